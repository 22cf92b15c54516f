package slurm

import (
	"io"
	"strings"
	"testing"
)

// The nodes of a real Slurm read alike as scontrol and sinfo print them.
func TestNodes(t *testing.T) {
	for _, name := range []string{"scontrol-node.txt", "scontrol-node-o.txt", "sinfo-gres.txt"} {
		if got, err := Nodes(strings.NewReader(sample(t, name)), name, io.Discard); got != "a100:3x8,h100:1x4" || err != nil {
			t.Errorf("%s: %q, %v, want a100:3x8,h100:1x4", name, got, err)
		}
	}
	for text, want := range map[string]string{
		"NodeName=n1 Gres=gpu:2(S:0-1)\nNodeName=n2 Gres=(null)\n": "gpu:1x2",
		"NodeName=n1 Gres=gpu:a100:4(S:0),gpu:a100:4(S:1)\n":       "a100:1x8",
		"GRES NODES\ngpu:v100:4(S:0,1),lic:1 12\n(null) 3\n":       "v100:12x4",
	} {
		if got, err := Nodes(strings.NewReader(text), "w", io.Discard); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %s", text, got, err, want)
		}
	}
}

func TestNodesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "w: no nodes with GPUs, want what this prints: scontrol show node -o",
		"NodeName=n1 Gres=(null)\n":      "w: no nodes with GPUs",
		"NodeName=n1 Gres=gpu:a100:x":    `w:1: GRES "gpu:a100:x", want GPUs like gpu:2 or gpu:a100:2`,
		"NodeName=n1 Gres=gpu:a100:2000": `w:1: GRES "gpu:a100:2000", want at most 1024 GPUs`,
		"PARTITION NODES GRES\n":         `w:1: columns PARTITION NODES GRES, want NODES and GRES without PARTITION`,
		"NODES GRES\nmany gpu:1\n":       `w:2: NODES "many", want a whole number from 1 to 1000000`,
		"NODES GRES\n3 gpu:1 x\n":        `w:2: 3 fields, want 2`,
	} {
		if _, err := Nodes(strings.NewReader(text), "w", io.Discard); err == nil || !strings.HasPrefix(err.Error(), want) {
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
		if got, err := Nodes(strings.NewReader(text), "w", io.Discard); err == nil && !strings.Contains(got, "x") {
			t.Errorf("%q: %q, want nodes or an error", text, got)
		}
	})
}

// Kind of fault: one unusual node makes all nodes unreadable.
func TestNodes_of_the_cases(t *testing.T) {
	for name, want := range map[string]string{
		"07-scontrol-node-states-and-gres/nodes.txt": "H100-SXM5:1x8,a100:5x8,kepler:1x2,tesla:1x2",
		"files/19-mixed-node.txt":                    "H100-SXM5:1x8,a100:5x8,kepler:1x2,tesla:1x2",
		"07-scontrol-node-states-and-gres/sinfo.txt": "a100:2x8,k80:4x4,kepler:1x2,tesla:1x2",
	} {
		var notes strings.Builder
		got, err := Nodes(strings.NewReader(caseOf(t, name)), "w", &notes)
		if got != want || err != nil {
			t.Errorf("%s: %q, %v, want %s", name, got, err, want)
		}
		for _, note := range []string{"GPUs of several types (2 tesla, 2 kepler)", "parts of GPUs (a100_1g.5gb, a100_3g.20gb, shard"} {
			if !strings.Contains(notes.String(), note) {
				t.Errorf("%s: notes %s, want %q", name, notes.String(), note)
			}
		}
	}
}
