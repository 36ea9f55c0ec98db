"""MPNet as an NLI model in training: its weights stay as they are, low-rank adapters learn.

The encoder's matrices are frozen in bf16; beside each stands a product of two thin ones that is
trained (Hu et al., 2022, arXiv:2106.09685), with the biases, the layer norms and the head. What is
trained is a tenth of what the package holds, so it ships as a small file over the package's own
weights (`core.models.adapters`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from core.models.adapters import ATTENTION, MATRICES, frozen_matrices, relative_bias
from core.models.weight_files import ADAPTERS_FILE

RANK = 32


class _AdaptedLinear(torch.autograd.Function):
    """x (W + B A)' + b, where W + B A was added up before: one large product each way.

    The gradients of A and B come from thin products of x and the output's gradient; the one of W,
    a third of the arithmetic, is never made.
    """

    @staticmethod
    def forward(
        context: Any,
        states: torch.Tensor,
        merged: torch.Tensor,
        bias: torch.Tensor,
        down: torch.Tensor,
        up: torch.Tensor,
    ) -> torch.Tensor:
        context.save_for_backward(states, merged, down, up)
        return functional.linear(states, merged, bias.to(states.dtype))

    @staticmethod
    def backward(context: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        states, merged, down, up = context.saved_tensors
        (gradient,) = gradients
        flat, seen = gradient.reshape(-1, gradient.shape[-1]), states.reshape(-1, states.shape[-1])
        thin = flat @ up.to(flat.dtype)
        return (
            gradient @ merged,
            None,
            (flat.new_ones(1, flat.shape[0]) @ flat).float()[0],
            (thin.T @ seen).float(),
            ((seen @ down.T.to(seen.dtype)).T @ flat).T.float(),
        )


def has_int8() -> bool:
    """Whether the processor multiplies int8 with instructions of its own (VNNI)."""
    return bool(torch.cpu._is_vnni_supported())


class _Rounded:
    """A frozen matrix in int8, for products from either side, each with its own scales.

    Where a processor multiplies int8 (VNNI) but not bf16, the product is three times as fast as in fp32,
    and training half as fast again.
    """

    def __init__(self, matrix: torch.Tensor) -> None:
        self.forward, self.forward_scale = _round_rows(matrix)
        self.backward, self.backward_scale = _round_rows(matrix.T.contiguous())

    def outputs(self, states: torch.Tensor) -> torch.Tensor:
        """`states @ matrix.T`."""
        return _product(states, self.forward, self.forward_scale)

    def inputs(self, gradient: torch.Tensor) -> torch.Tensor:
        """`gradient @ matrix`."""
        return _product(gradient, self.backward, self.backward_scale)


def _round_rows(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows of a matrix in int8, and what each is to be multiplied by, shape (rows, 1)."""
    scale = matrix.abs().amax(1, keepdim=True).div_(127).clamp_(min=1e-30)
    return (matrix / scale).round_().to(torch.int8), scale


def _product(states: torch.Tensor, rounded: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    flat = states.reshape(-1, states.shape[-1])
    rows, row_scale = _round_rows(flat)
    summed = torch._int_mm(rows, rounded.T).float()
    return summed.mul_(row_scale).mul_(scale.T).view(*states.shape[:-1], -1)


class _RoundedLinear(torch.autograd.Function):
    """x W' + (x A') B' + b with W in int8 and the adapters beside it in fp32: added up before, what
    they learn in a step would be lost in rounding."""

    @staticmethod
    def forward(
        context: Any,
        states: torch.Tensor,
        frozen: _Rounded,
        bias: torch.Tensor,
        down: torch.Tensor,
        up: torch.Tensor,
    ) -> torch.Tensor:
        thin = states @ down.T
        context.save_for_backward(states, thin, down, up)
        context.frozen = frozen
        return frozen.outputs(states).add_(bias).add_(thin @ up.T)

    @staticmethod
    def backward(context: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        states, thin, down, up = context.saved_tensors
        (gradient,) = gradients
        flat, seen = gradient.reshape(-1, gradient.shape[-1]), states.reshape(-1, states.shape[-1])
        back = gradient @ up
        return (
            context.frozen.inputs(gradient).add_(back @ down),
            None,
            flat.sum(0),
            back.reshape(-1, back.shape[-1]).T @ seen,
            flat.T @ thin.reshape(-1, thin.shape[-1]),
        )


class AdaptedMpnet(nn.Module):
    """Logits of pairs from frozen MPNet weights and the adapters that are trained."""

    def __init__(
        self,
        weights: Mapping[str, torch.Tensor],
        config: Any,
        labels: int,
        dtype: torch.dtype,
        *,
        rounds: bool = False,  # the frozen matrices to int8
    ) -> None:
        super().__init__()
        self.config, self.dtype = config, dtype
        hidden = int(config.hidden_size)
        self.words = weights["embeddings.word_embeddings.weight"].to(dtype)
        self.positions = weights["embeddings.position_embeddings.weight"].to(dtype)
        self.relative = weights["encoder.relative_attention_bias.weight"].float()
        self.frozen = [frozen_matrices(weights, i) for i in range(config.num_hidden_layers)]
        self.rounded: list[dict[str, _Rounded]] = []
        if rounds:
            self.rounded = [
                {name: _Rounded(matrix.float()) for name, matrix in layer.items()}
                for layer in self.frozen
            ]
        self.merged = [
            {name: matrix.to(dtype, copy=True) for name, matrix in layer.items()}
            for layer in ([] if rounds else self.frozen)
        ]
        self.trained = nn.ParameterDict()
        self._keep(weights, "embeddings.LayerNorm", "embeddings.norm")
        for i, layer in enumerate(self.frozen):
            prefix = f"encoder.layer.{i}"
            for name, matrix in layer.items():
                rows, columns = matrix.shape
                thin = torch.empty(RANK, columns)
                nn.init.kaiming_uniform_(thin, a=5**0.5)
                self._add(f"{i}.{name}.down", thin)
                self._add(f"{i}.{name}.up", torch.zeros(rows, RANK))
                biases = [weights[f"{prefix}.{place}.bias"] for place in MATRICES[name]]
                self._add(f"{i}.{name}.bias", torch.cat(biases))
            self._keep(weights, f"{prefix}.attention.LayerNorm", f"{i}.norm_attention")
            self._keep(weights, f"{prefix}.output.LayerNorm", f"{i}.norm_output")
        for name, rows in (("head.dense", hidden), ("head.out", labels)):
            self._add(f"{name}.weight", torch.randn(rows, hidden) * 0.02)
            self._add(f"{name}.bias", torch.zeros(rows))

    def to(self, device: torch.device) -> AdaptedMpnet:  # type: ignore[override]
        """Move the frozen weights too, which are no parameters."""
        self.words, self.positions = self.words.to(device), self.positions.to(device)
        self.relative = self.relative.to(device)
        for layers in (self.frozen, self.merged):
            layers[:] = [{name: m.to(device) for name, m in layer.items()} for layer in layers]
        return super().to(device)

    def _add(self, name: str, value: torch.Tensor) -> None:
        self.trained[name.replace(".", "/")] = nn.Parameter(value.float().clone())

    def _keep(self, weights: Mapping[str, torch.Tensor], theirs: str, ours: str) -> None:
        for part in ("weight", "bias"):
            self._add(f"{ours}.{part}", weights[f"{theirs}.{part}"])

    def adapters(self) -> dict[str, torch.Tensor]:
        """What is trained, by the names that `core.models.adapters` reads."""
        return {name.replace("/", "."): p.detach() for name, p in self.trained.items()}

    def load(self, adapters: Mapping[str, torch.Tensor]) -> None:
        """Take over adapters that were trained before; raises KeyError where one is missing."""
        with torch.no_grad():
            for name, p in self.trained.items():
                p.copy_(adapters[name.replace("/", ".")])

    def save_pretrained(self, folder: Path) -> None:
        """Write what is trained as fp16, as the accurate NLI model ships it."""
        folder.mkdir(parents=True, exist_ok=True)
        stored = {name: value.half().contiguous() for name, value in self.adapters().items()}
        save_file(stored, folder / ADAPTERS_FILE, metadata={"format": "pt"})

    def merge(self) -> None:
        """Add the adapters up with the frozen matrices, as the next passes read them; nothing is added to
        rounded ones."""
        for i in range(len(self.frozen)):
            self.merge_layer(i)

    @torch.no_grad()
    def merge_layer(self, i: int) -> None:
        """Add up one layer."""
        if self.rounded:
            return
        for name, matrix in self.frozen[i].items():
            up, down = self._of(f"{i}/{name}/up"), self._of(f"{i}/{name}/down")
            change = up.to(self.dtype) @ down.to(self.dtype)
            torch.add(matrix, change, out=self.merged[i][name])

    def _of(self, name: str) -> torch.Tensor:
        found: torch.Tensor = self.trained[name]
        return found

    def logits(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return fp32 logits, shape (pairs, labels)."""
        length, dtype = input_ids.shape[1], self.dtype
        first = int(self.config.pad_token_id) + 1
        states = self.words[input_ids].float() + self.positions[first : first + length].float()
        states = self._normalise(states, "embeddings/norm").to(dtype)
        heads = int(self.config.num_attention_heads)
        mask = torch.zeros_like(attention_mask, dtype=torch.float32)
        mask = mask.masked_fill_(attention_mask == 0, float("-inf"))[:, None, None]
        mask = (mask + relative_bias(self.relative, length)).to(dtype)
        last = len(self.frozen) - 1
        for i in range(len(self.frozen)):
            states = self._layer(i, states, mask, heads, first_only=i == last)
        inner = torch.tanh(
            functional.linear(
                states[:, 0].float(), self._of("head/dense/weight"), self._of("head/dense/bias")
            )
        )
        return functional.linear(inner, self._of("head/out/weight"), self._of("head/out/bias"))

    def _layer(
        self, i: int, states: torch.Tensor, mask: torch.Tensor, heads: int, *, first_only: bool
    ) -> torch.Tensor:
        rows, length, _ = states.shape
        whole = self._linear(states, i, ATTENTION)
        query, key, value = whole.view(rows, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
        if first_only:
            query, mask, states = query[:, :, :1], mask[:, :, :1], states[:, :1]
        scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2) + mask
        context = (torch.softmax(scores, dim=-1) @ value).transpose(1, 2).flatten(2)
        attended = self._normalise(self._linear(context, i, "out") + states, f"{i}/norm_attention")
        inner = functional.gelu(self._linear(attended, i, "up"))
        return self._normalise(self._linear(inner, i, "down") + attended, f"{i}/norm_output")

    def _linear(self, states: torch.Tensor, i: int, name: str) -> torch.Tensor:
        function = _RoundedLinear if self.rounded else _AdaptedLinear
        matrix = self.rounded[i][name] if self.rounded else self.merged[i][name]
        result: torch.Tensor = function.apply(  # type: ignore[no-untyped-call]
            states,
            matrix,
            self._of(f"{i}/{name}/bias"),
            self._of(f"{i}/{name}/down"),
            self._of(f"{i}/{name}/up"),
        )
        return result

    def _normalise(self, states: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self._of(f"{name}/weight"), self._of(f"{name}/bias")
        return functional.layer_norm(
            states,
            weight.shape,
            weight.to(states.dtype),
            bias.to(states.dtype),
            float(self.config.layer_norm_eps),
        )


class Copies:
    """Copies of a model on one set of weights, each with its thread and gradients of its own.

    A part of each batch goes to each core, on its own copy: on a shared machine this loses far less than
    threads that wait for each other after every operation.
    """

    def __init__(self, model: Any, count: int) -> None:
        self.models = [model, *(copy.deepcopy(model) for _ in range(count - 1))]
        for other in self.models[1:]:
            for p, first in zip(other.parameters(), model.parameters(), strict=True):
                p.data = first.data
            if isinstance(other, AdaptedMpnet):
                other.frozen, other.merged = model.frozen, model.merged
                other.rounded = model.rounded
        self.trained = [[p for p in one.parameters() if p.requires_grad] for one in self.models]
        self.pool = ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,))

    def learn(
        self, optimizer: torch.optim.Optimizer, tasks: Sequence[Callable[[Any, int], float]]
    ) -> float:
        """Let each task leave its gradients on a copy of the model, which it is given with its number,
        and take one step with their sum; the sum of what the tasks return comes back."""
        jobs = [
            self.pool.submit(task, model, number)
            for number, (task, model) in enumerate(zip(tasks, self.models, strict=False))
        ]
        value = sum(job.result() for job in jobs)
        gradients = [p.grad for p in self.trained[0]]
        for others in self.trained[1 : len(jobs)]:
            torch._foreach_add_(gradients, [p.grad for p in others])
        torch.nn.utils.clip_grad_norm_(self.trained[0], 1.0)
        optimizer.step()
        self.merge()
        for others in self.trained:
            for p in others:
                p.grad = None
        return value

    def merge(self) -> None:
        """Add adapters up with the frozen matrices, a layer a task; nothing where there are none."""
        if isinstance(model := self.models[0], AdaptedMpnet):
            list(self.pool.map(model.merge_layer, range(len(model.frozen))))
