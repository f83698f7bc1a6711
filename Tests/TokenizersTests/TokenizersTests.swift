import Tokenizers
