import Jinja
