package client

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// GPUs is a number of GPUs by type.
type GPUs map[string]int

// Total returns the GPUs of all types.
func (g GPUs) Total() int {
	n := 0
	for _, of := range g {
		n += of
	}
	return n
}

// Types returns the types, sorted.
func (g GPUs) Types() []string { return slices.Sorted(maps.Keys(g)) }

// String returns "a100:4,h100:2", or "3" for GPUs without a type.
func (g GPUs) String() string {
	var parts []string
	for _, t := range g.Types() {
		if n := strconv.Itoa(g[t]); t == "" {
			parts = append(parts, n)
		} else {
			parts = append(parts, t+":"+n)
		}
	}
	return strings.Join(parts, ",")
}

const mostGPUs = 1 << 20

// gpuNumber is "gpu" in Slurm before 19.05 without the plugin.
const gpuNumber = "7696487"

// ParseGPUs returns the GPUs in a list of generic resources, in any of Slurm's formats, such as "gpu:a100:8(S:0-1)" or
// "gres/gpu:a100=8,gres/gpu=8". In the second one, the number without a type includes the GPUs that have a type.
func ParseGPUs(list string) (GPUs, error) {
	g, all := GPUs{}, -1
	for item := range strings.SplitSeq(outsideBrackets(list), ",") {
		name, kind, n, err := gpuItem(strings.TrimSpace(item))
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: GPUs %q, want them like gpu:2 or gres/gpu:a100=2", ErrMalformed, list)
		case !name:
		case kind == "" && strings.Contains(item, "="):
			all = n
		case n > 0:
			g[kind] += n
		}
	}
	if rest := all - g.Total(); all >= 0 && rest > 0 {
		g[""] = rest
	}
	if len(g) == 0 {
		return nil, nil
	}
	return g, nil
}

func gpuItem(item string) (is bool, kind string, n int, err error) {
	item = strings.TrimPrefix(strings.TrimPrefix(item, "gres:"), "gres/")
	name, value, counted := strings.Cut(item, "=")
	parts := strings.Split(name, ":")
	if parts[0] != "gpu" && parts[0] != gpuNumber {
		return false, "", 0, nil
	}
	if !counted {
		value, parts = "1", parts[1:]
		if len(parts) > 0 {
			if _, err := strconv.Atoi(parts[len(parts)-1]); err == nil || len(parts) == 2 {
				value, parts = parts[len(parts)-1], parts[:len(parts)-1]
			}
		}
	} else {
		parts = parts[1:]
	}
	if n, err = strconv.Atoi(value); err == nil && (n < 0 || n > mostGPUs || len(parts) > 1) {
		err = strconv.ErrRange
	}
	return true, strings.Join(parts, ""), n, err
}

func outsideBrackets(text string) string {
	var b strings.Builder
	for {
		head, rest, open := strings.Cut(text, "(")
		b.WriteString(head)
		if !open {
			return b.String()
		}
		_, text, _ = strings.Cut(rest, ")")
	}
}
