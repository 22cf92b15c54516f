package client

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseGPUs(t *testing.T) {
	for list, want := range map[string]GPUs{
		"":                                    nil,
		"(null)":                              nil,
		"gpu:0":                               nil,
		"craynetwork:1":                       nil,
		"gpufs:3":                             nil,
		"gpu":                                 {"": 1},
		"gpu:a100":                            {"a100": 1},
		"gpu:8":                               {"": 8},
		"gpu:8(S:0-1)":                        {"": 8},
		"gpu:a100:8(S:0-1)":                   {"a100": 8},
		"gpu:a100:2(IDX:0,3),gpu:h100:1":      {"a100": 2, "h100": 1},
		"gpu:h100:0(IDX:N/A)":                 nil,
		"gres:gpu:a100:4":                     {"a100": 4},
		"gres/gpu:a100:4":                     {"a100": 4},
		"gres/gpu=3":                          {"": 3},
		"gres/gpu:a100=8":                     {"a100": 8},
		"cpu=2,gres/gpu=16,gres/gpu:a100=16":  {"a100": 16},
		"gres/gpu=6,gres/gpu:a100=4,billing=": {"a100": 4, "": 2},
		"7696487:2":                           {"": 2},
	} {
		got, err := ParseGPUs(list)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v, %s", list, err, diff)
		}
	}
	for _, list := range []string{"gpu:a100:x", "gpu:-1", "gpu:99999999", "gpu:a:b:2", "gres/gpu=many", "gres/gpu:a100=-2"} {
		if got, err := ParseGPUs(list); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, %v, want an error", list, got, err)
		}
	}
}

func TestNodenames(t *testing.T) {
	for list, want := range map[string][]string{
		"":                        nil,
		"(null)":                  nil,
		"c1":                      {"c1"},
		"a[1-2],c1":               {"a1", "a2", "c1"},
		"n[08-10,12]":             {"n08", "n09", "n10", "n12"},
		"rack[0-1]n[1,3],gpu-a.b": {"rack0n1", "rack0n3", "rack1n1", "rack1n3", "gpu-a.b"},
	} {
		got, err := nodenames(list)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v, %s", list, err, diff)
		}
	}
	for _, list := range []string{"a[1-", "a[2-1]", "a[x]", "a[1-99999999]", "a[0-999]b[0-999]", ",a", "a b", "a]", "a[]"} {
		if got, err := nodenames(list); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %d nodes, %v, want an error", list, len(got), err)
		}
	}
}
