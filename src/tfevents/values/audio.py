"""Audio: samples to 16-bit PCM WAV, in TensorFlow's form and in the field form.

What the callers of each library pass differs in shape and scaling, so both are arguments:

    library       layout   scale   rounding
    tf.summary    "KTC"    32768   "half-away"   the defaults
    torch         "T"      32767   "trunc"
    tensorboardX  "TC"     32768   "floor"

Floats are cut to [-1, 1] and NaN is 0. Integers are PCM already and are not scaled: int16 is kept,
int32 keeps its high half, uint8 (centred at 128) becomes the high byte.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from tfevents import _warn, plugin, proto, tensor
from tfevents import arrays as array_likes
from tfevents.values import _wav
from tfevents.values._batch import check_max_outputs

__all__ = ["Audio", "Layout", "Rounding", "check_encoding"]

Layout = Literal["KTC", "T", "TC"]
Rounding = Literal["half-away", "trunc", "floor"]
_Samples = npt.NDArray[np.int16]
_Array = npt.NDArray[Any]

_CONTENT_TYPE = "audio/wav"
_PLUGIN_CONTENT = b"\x10\x0b"  # AudioPluginData.encoding = WAV
_MAX_RATE = 2**31 - 1
_CHUNK = 1 << 16  # frames converted at a time


def _half_away(values: _Array) -> _Array:
    # In float64: adding 0.5 to a float32 just below it would round up to 1.
    wide = values.astype(np.float64)
    return np.trunc(wide + np.copysign(0.5, wide))


_ROUNDINGS: dict[str, Callable[[_Array], _Array]] = {
    "half-away": _half_away,
    "trunc": np.trunc,
    "floor": np.floor,
}


def check_encoding(encoding: str | None, *, tag: str = "") -> None:
    """Raises ValueError for anything but None and "wav"; TensorFlow does, even with no writer."""
    if encoding is not None and not (isinstance(encoding, str) and encoding == "wav"):
        raise ValueError(f'tag {tag!r}: Unknown encoding: {encoding!r:.80}; allowed is "wav"')


@dataclass(frozen=True, slots=True, eq=False)
class Audio:
    """The clips of one summary.

    Attributes:
        sample_rate: frames in a second (Hz); 0 where a file does not tell.
        encoded: the files (WAV, as a rule) of a summary that was read, empty for fresh data.
        labels: one for each encoded clip, "" unless an old TensorFlow wrote it.
        content_type: the MIME type of `encoded`.
        raw: [k, t, c] snapshot of fresh data, int16 samples or unscaled floats.
        scale: what a float 1.0 becomes before rounding; the result is cut to int16.
        rounding: a key of the table in this module.
    """

    sample_rate: int | float
    encoded: tuple[bytes, ...] = ()
    labels: tuple[str, ...] = ()
    content_type: str = _CONTENT_TYPE
    raw: _Array | None = None
    scale: int = 32768
    rounding: Rounding = "half-away"

    @classmethod
    def from_data(
        cls,
        data: object,
        sample_rate: SupportsIndex | float = 44100,
        *,
        tag: str = "",
        layout: Layout = "KTC",
        max_outputs: SupportsIndex = 3,
        encoding: str | None = None,
        scale: int = 32768,
        rounding: Rounding = "half-away",
    ) -> Audio:
        """Checks and copies audio data.

        Args:
            data: floats in [-1, 1], or PCM as int16, int32 or uint8; shaped as `layout` says.
            sample_rate: Hz, 1 to 2**31 - 1. Floats are rounded, but a "KTC" batch takes none.
            tag: named in errors and warnings.
            layout: "KTC" is a batch of clips [k, t, c], computed in float32. "T" is one mono clip
                [t], after axes of length 1 are dropped; "TC" one clip [t] or [t, 1 or 2]. One clip
                must not be empty, keeps float64, and warns of samples out of range or not finite.
            max_outputs: clips kept of a batch.
            encoding: None or "wav".
            scale: what 1.0 becomes.
            rounding: "half-away" from zero, "trunc" or "floor".

        Raises:
            TypeError: data of another dtype; a sample_rate or max_outputs that is no integer.
            ValueError: a wrong shape, rate, encoding or max_outputs; more than a WAV file holds.
        """
        check_encoding(encoding, tag=tag)
        rate = _check_rate(sample_rate, tag, whole=layout == "KTC")
        array = array_likes.to_numpy(data, tag=tag)
        if layout == "KTC":
            clips = _batch(array, tag, check_max_outputs(max_outputs, tag))
            raw = _snapshot(clips, tag, (np.float32,))
        else:
            raw = _snapshot(_one_clip(array, tag, layout), tag, (np.float32, np.float64))
            if raw.dtype.kind == "f":
                _warn_out_of_range(raw, tag)
        if len(raw):
            _wav.check_size(
                raw.shape[1], raw.shape[2], rate, f"tag {tag!r}: audio of {array.shape}"
            )
        return cls(rate, raw=raw, scale=scale, rounding=rounding)

    def __len__(self) -> int:
        return len(self.encoded) if self.raw is None else len(self.raw)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        held = 0 if self.raw is None else self.raw.nbytes
        return held + sum(map(len, self.encoded))

    def samples(self, index: int = 0) -> tuple[_Samples, int | float]:
        """Clip `index` as (int16 [t, c], rate in Hz); wider files lose their low bits.

        Raises:
            IndexError: no such clip.
            ValueError: bytes of a file that are no WAV this package reads.
        """
        if self.raw is not None:
            return _to_int16(self.raw[index], self.scale, self.rounding), self.sample_rate
        stored, rate = _wav.decode(self.encoded[index])
        if stored.dtype == np.int32:
            return (stored >> 16).astype(np.int16), rate
        return _to_int16(stored, 32768, "half-away"), rate

    def waveform(self, index: int = 0) -> tuple[npt.NDArray[np.float32], int | float]:
        """Clip `index` as (float32 [t, c] of full scale 1, rate in Hz), with all stored bits.

        Raises:
            IndexError, ValueError: as `samples`.
        """
        stored, rate = self.samples(index) if self.raw is not None else self._stored(index)
        if stored.dtype.kind == "f":
            return stored.astype(np.float32), rate
        full = -float(np.iinfo(stored.dtype).min)
        return (stored / full).astype(np.float32), rate

    def _stored(self, index: int) -> tuple[_Array, int | float]:
        return _wav.decode(self.encoded[index])

    def files(self) -> tuple[bytes, ...]:
        """Each clip as a file: fresh data as WAV, read data unchanged."""
        if self.raw is None:
            return self.encoded
        rate = int(self.sample_rate)
        return tuple(_wav.encode(self.samples(i)[0], rate) for i in range(len(self.raw)))

    def to_tensor_value(
        self, tag: str, *, display_name: str = "", description: str = ""
    ) -> proto.Summary.Value:
        """TensorFlow 2's form: strings [n, 2], each clip's file and its label."""
        clips = self.files()
        labels = self.labels or ("",) * len(clips)
        table = np.empty((len(clips), 2), dtype=object)
        for row, (clip, label) in enumerate(zip(clips, labels, strict=True)):
            table[row] = clip, label.encode()
        value = proto.Summary.Value(tag=tag)
        value.metadata.CopyFrom(
            plugin.metadata(
                plugin.AUDIO,
                _PLUGIN_CONTENT,
                display_name=display_name,
                description=description,
            )
        )
        value.tensor.CopyFrom(tensor.to_proto(table))
        return value

    def to_field_value(self, tag: str) -> proto.Summary.Value:
        """The `audio` field.

        Raises:
            ValueError: not exactly one clip; layouts "T" and "TC" always are one.
        """
        if len(self) != 1:
            raise ValueError(f"tag {tag!r}: the audio field holds one clip, not {len(self)}")
        value = proto.Summary.Value(tag=tag)
        value.audio.sample_rate = self.sample_rate
        value.audio.content_type = self.content_type
        value.audio.encoded_audio_string = self.files()[0]
        value.audio.length_frames, value.audio.num_channels = self._shape()
        return value

    def _shape(self) -> tuple[int, int]:
        """(frames, channels) of the first clip; zeros where its file does not tell."""
        if self.raw is not None:
            return self.raw.shape[1], self.raw.shape[2]
        try:
            head = _wav.header(self.encoded[0])
        except ValueError:
            return 0, 0
        return head.frames, head.channels

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> Audio:
        """Decodes either form; the files themselves are decoded by `samples()`.

        Raises:
            ValueError: neither form, or a tensor that is not [n, 2] strings.
        """
        if value.HasField("audio"):
            field = value.audio
            data = field.encoded_audio_string
            return cls(
                _plain_rate(field.sample_rate),
                (data,) if data else (),
                ("",) if data else (),
                field.content_type,
            )
        if not value.HasField("tensor"):
            raise ValueError(f"tag {value.tag!r}: no audio: neither audio nor a tensor is set")
        table = tensor.from_proto(value.tensor)
        strings = table.ravel().tolist()
        if table.shape[1:] != (2,) or not all(isinstance(item, bytes) for item in strings):
            raise ValueError(
                f"tag {value.tag!r}: an audio tensor is strings of shape [n, 2], "
                f"not {table.dtype} of shape {table.shape}"
            )
        labels = tuple(label.decode("utf-8", "replace") for label in strings[1::2])
        files = tuple(strings[::2])
        return cls(_file_rate(files), files, labels)


def _plain_rate(rate: float) -> int | float:
    """The message stores a float; whole rates read as integers."""
    return int(rate) if rate.is_integer() else rate


def _file_rate(files: tuple[bytes, ...]) -> int:
    try:
        return _wav.header(files[0]).rate if files else 0
    except ValueError:
        return 0


def _check_rate(rate: SupportsIndex | float, tag: str, *, whole: bool) -> int:
    message = f"tag {tag!r}: sample_rate must be an integer from 1 to {_MAX_RATE}, got {rate!r}"
    if isinstance(rate, (bool, np.bool_)):
        raise TypeError(message)
    if not whole and isinstance(rate, (float, np.floating)) and np.isfinite(rate):
        rate = round(float(rate))
    try:
        number = operator.index(rate)  # type: ignore[arg-type]  # a float raises
    except TypeError:
        raise TypeError(message) from None
    if not 1 <= number <= _MAX_RATE:
        raise ValueError(message)
    return number


def _batch(array: _Array, tag: str, limit: int) -> _Array:
    if array.ndim != 3:
        raise ValueError(
            f"tag {tag!r}: audio data must have rank 3 [k, t, c]; "
            f"received rank {array.ndim}, shape {array.shape}"
        )
    kept = array[:limit]
    if len(kept) and array.shape[2] == 0:
        raise ValueError(f"tag {tag!r}: audio of shape {array.shape} [k, t, c] has no channels")
    return kept


def _one_clip(array: _Array, tag: str, layout: Layout) -> _Array:
    """[1, t, c]."""
    if array.size == 0:
        raise ValueError(f"tag {tag!r}: audio of shape {array.shape} is empty")
    if layout == "T":
        mono = array.squeeze()
        if mono.ndim > 1:
            raise ValueError(
                f"tag {tag!r}: audio must be one-dimensional, apart from axes of length 1; "
                f"got shape {array.shape}"
            )
        return mono.reshape(1, -1, 1)
    if array.ndim == 1:
        return array[np.newaxis, :, np.newaxis]
    if array.ndim != 2 or array.shape[1] not in (1, 2):
        raise ValueError(
            f"tag {tag!r}: audio must have shape (t,), (t, 1) or (t, 2); got {array.shape}"
        )
    return array[np.newaxis]


def _snapshot(clips: _Array, tag: str, floats: tuple[type[np.floating[Any]], ...]) -> _Array:
    """One copy: int16 samples of PCM, else floats in the narrowest of `floats` that holds them."""
    kind, size = clips.dtype.kind, clips.dtype.itemsize
    if kind == "f":
        dtype = floats[0] if size <= 4 else floats[-1]
        with np.errstate(over="ignore"):
            return np.array(clips, dtype=dtype, copy=True)
    if kind == "i" and size == 2:
        return np.array(clips, dtype=np.int16, copy=True)
    if kind == "i" and size == 4:
        return (clips >> 16).astype(np.int16)
    if kind == "u" and size == 1:
        return (clips.astype(np.int16) - 128) << 8
    raise TypeError(
        f"tag {tag!r}: audio must be floats in [-1, 1], or PCM as int16, int32 or uint8; "
        f"got {clips.dtype} of shape {clips.shape}"
    )


def _warn_out_of_range(clip: _Array, tag: str) -> None:
    with np.errstate(invalid="ignore"):
        low, high = clip.min(), clip.max()
    if np.isnan(low) or np.isnan(high):
        _warn.warn(tag, "audio-nan", f"tag {tag!r}: audio has NaN samples; written as 0")
        low, high = np.nanmin(clip, initial=0), np.nanmax(clip, initial=0)
    if low < -1 or high > 1:
        _warn.warn(
            tag,
            "audio-range",
            f"tag {tag!r}: audio from {low:g} to {high:g} was clipped to [-1, 1]",
        )


def _to_int16(clip: _Array, scale: int, rounding: Rounding) -> _Samples:
    """int16 [t, c] of floats or int16; the product is taken in the data's own precision."""
    if clip.dtype == np.int16:
        return clip
    samples = np.empty(clip.shape, np.int16)
    round_ = _ROUNDINGS[rounding]
    factor = clip.dtype.type(scale)
    with np.errstate(all="ignore"):
        for start in range(0, len(clip), _CHUNK):
            part = np.clip(clip[start : start + _CHUNK], -1, 1)
            np.copyto(part, 0, where=np.isnan(part))
            rounded = round_(part * factor)
            samples[start : start + _CHUNK] = np.clip(rounded, -32768, 32767)
    return samples
