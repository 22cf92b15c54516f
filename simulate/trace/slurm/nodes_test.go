package slurm

import (
	"strings"
	"testing"
)

// The nodes of a real Slurm read alike as scontrol and sinfo print them.
func TestNodes(t *testing.T) {
	for _, name := range []string{"scontrol-node.txt", "scontrol-node-o.txt", "sinfo-gres.txt"} {
		if got, err := Nodes(strings.NewReader(sample(t, name)), name); got != "a100:3x8,h100:1x4" || err != nil {
			t.Errorf("%s: %q, %v, want a100:3x8,h100:1x4", name, got, err)
		}
	}
	for text, want := range map[string]string{
		"NodeName=n1 Gres=gpu:2(S:0-1)\nNodeName=n2 Gres=(null)\n": "gpu:1x2",
		"GRES NODES\ngpu:v100:4(S:0,1),lic:1 12\n(null) 3\n":       "v100:12x4",
	} {
		if got, err := Nodes(strings.NewReader(text), "w"); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %s", text, got, err, want)
		}
	}
}

func TestNodesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "w: no nodes with GPUs, want what this prints: scontrol show node -o",
		"NodeName=n1 Gres=(null)\n":        "w: no nodes with GPUs",
		"NodeName=n1 Gres=gpu:a100:x":      `w:1: GRES "gpu:a100:x", want GPUs like gpu:2 or gpu:a100:2`,
		"NodeName=n1 Gres=gpu:a100:2000":   `w:1: GRES "gpu:a100:2000", want at most 1024 GPUs`,
		"NodeName=n1 Gres=gpu:a:1,gpu:b:1": `w:1: GRES "gpu:a:1,gpu:b:1", want GPUs of one type on a node`,
		"PARTITION NODES GRES\n":           `w:1: columns PARTITION NODES GRES, want NODES and GRES without PARTITION`,
		"NODES GRES\nmany gpu:1\n":         `w:2: NODES "many", want a whole number from 1 to 1000000`,
		"NODES GRES\n3 gpu:1 x\n":          `w:2: 3 fields, want 2`,
	} {
		if _, err := Nodes(strings.NewReader(text), "w"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// FuzzNodes feeds the reader anything: it ends in an error or names at least one node.
func FuzzNodes(f *testing.F) {
	f.Add(sample(f, "sinfo-gres.txt"))
	f.Add(sample(f, "scontrol-node.txt"))
	f.Add("NodeName=n1 Gres=gpu:2(S:0-1)")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := Nodes(strings.NewReader(text), "w"); err == nil && !strings.Contains(got, "x") {
			t.Errorf("%q: %q, want nodes or an error", text, got)
		}
	})
}
