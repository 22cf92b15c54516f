package builtin

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/placement/pack"
	"github.com/oxgang/oxgang/placement/submesh"
)

// A Placer is one placer of the table.
type Placer struct {
	Name string
	Doc  string // one sentence
	New  func() placement.Placer
}

// Placers returns the placers that can be chosen by name.
func Placers() []Placer {
	return []Placer{
		{"submesh", "Sia's rules; what fits no node whole is scattered as a last resort.", func() placement.Placer { return submesh.New(submesh.DefaultOptions()) }},
		{"submesh-whole", "Sia's rules; what fits no node whole waits.", func() placement.Placer { return submesh.New(submesh.Options{}) }},
		{"pack", "Best fit by GPUs, CPUs and memory; running jobs move if that gains more than it costs.", newPack},
	}
}

func newPack() placement.Placer {
	p, err := pack.New(pack.DefaultOptions())
	if err != nil {
		panic("builtin: defaults of pack are refused: " + err.Error())
	}
	return p
}

// NewPlacer makes the placer of a name for the entry's policy; without a name, the
// one that the policy prefers. It returns the error of NewPlacer.
func (e *Entry) NewPlacer(name string) (placement.Placer, error) {
	return NewPlacer(cmp.Or(name, e.Placer, "submesh"))
}

// NewPlacer makes a placer by name. An unknown name is an error that lists
// those there are.
func NewPlacer(name string) (placement.Placer, error) {
	var names []string
	for _, p := range Placers() {
		if p.Name == name {
			return p.New(), nil
		}
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("placer %q is not known, want one of %s", name, strings.Join(names, ", "))
}
