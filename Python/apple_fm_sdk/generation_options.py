"""How the next token is chosen, and how many there may be."""

from dataclasses import dataclass
from enum import Enum
from typing import Optional


class SamplingModeType(str, Enum):
    """The kinds of `SamplingMode`."""

    GREEDY = "greedy"
    RANDOM = "random"


def _is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass
class SamplingMode:
    """How the next token is chosen. Made by `greedy` and `random`."""

    mode_type: SamplingModeType
    top: Optional[int] = None
    probability_threshold: Optional[float] = None
    seed: Optional[int] = None

    @classmethod
    def greedy(cls):
        """Always the likeliest token: the same answer every time."""
        return cls(SamplingModeType.GREEDY)

    @classmethod
    def random(cls, top=None, probability_threshold=None, seed=None):
        """One of the `top` likeliest tokens, or of the likeliest that together have `probability_threshold`, by their
        probabilities. The same `seed` gives the same answer."""
        if top is not None and probability_threshold is not None:
            raise ValueError("Cannot specify both 'top' and 'probability_threshold': they are two ways to choose.")
        if top is not None and not (_is_integer(top) and top > 0):
            raise ValueError("'top' is to be a positive integer")
        if probability_threshold is not None and not (
            _is_number(probability_threshold) and 0 <= probability_threshold <= 1
        ):
            raise ValueError("'probability_threshold' is to be a number between 0.0 and 1.0")
        if seed is not None and not (_is_integer(seed) and 0 <= seed < 1 << 64):
            raise ValueError("'seed' is to be an integer from 0 to 2**64 - 1")
        return cls(SamplingModeType.RANDOM, top, probability_threshold, seed)


@dataclass
class GenerationOptions:
    """Options of one request."""

    sampling: Optional[SamplingMode] = None
    temperature: Optional[float] = None
    maximum_response_tokens: Optional[int] = None

    def __post_init__(self):
        if self.temperature is not None:
            if not _is_number(self.temperature):
                raise ValueError("'temperature' is to be a number")
            if not self.temperature >= 0:
                raise ValueError("'temperature' is to be non-negative")
        if self.maximum_response_tokens is not None:
            if not _is_integer(self.maximum_response_tokens):
                raise ValueError("'maximum_response_tokens' is to be an integer")
            if self.maximum_response_tokens <= 0:
                raise ValueError("'maximum_response_tokens' is to be positive")
        if self.sampling is not None and not isinstance(self.sampling, SamplingMode):
            raise ValueError("'sampling' is to be a SamplingMode")

    def to_dict(self):
        """The options as the library reads them. What is not set is left out."""
        options = {}
        if self.sampling is not None:
            names = {"top_k": self.sampling.top, "top_p": self.sampling.probability_threshold, "seed": self.sampling.seed}
            given = {name: str(value) for name, value in names.items() if value is not None}
            options["sampling"] = {"mode": SamplingModeType(self.sampling.mode_type).value, **given}
        if self.temperature is not None:
            options["temperature"] = self.temperature
        if self.maximum_response_tokens is not None:
            options["maximum_response_tokens"] = self.maximum_response_tokens
        return options
