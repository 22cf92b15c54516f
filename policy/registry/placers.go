package registry

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/placement/bestfit"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/policy/placement/rack"
	"github.com/oxgang/oxgang/policy/placement/submesh"
)

// A Placer is one placer of the table.
type Placer struct {
	Name string
	Doc  string // one sentence
	New  func(PlacerOptions) (placement.Placer, error)
}

// PlacerOptions are those of all placers.
type PlacerOptions struct {
	Penalty float64 // of pack: see pack.Options
}

// Placers returns the placers that can be chosen by name.
func Placers() []Placer {
	return []Placer{
		{"submesh", "Sia's rules; what fits no node whole is scattered as a last resort.", func(PlacerOptions) (placement.Placer, error) { return submesh.New(submesh.DefaultOptions()), nil }},
		{"submesh-whole", "Sia's rules; what fits no node whole waits.", func(PlacerOptions) (placement.Placer, error) { return submesh.New(submesh.Options{}), nil }},
		{"best-fit", "Best-fit decreasing; running jobs never move.", func(PlacerOptions) (placement.Placer, error) { return bestfit.New(), nil }},
		{"pack", "Best fit by GPUs, CPUs and memory; running jobs move if that gains more than it costs.", newPack},
		{"racks", "As submesh, and jobs on several nodes are brought into one NVLink domain or one rack, where nodes have these.", newRacks},
	}
}

func newRacks(PlacerOptions) (placement.Placer, error) {
	return rack.New(submesh.New(submesh.DefaultOptions())), nil
}

func newPack(o PlacerOptions) (placement.Placer, error) {
	return pack.New(pack.Options{Penalty: o.Penalty})
}

// NewPlacer makes the placer of a name for the entry's policy; without a name, the
// one that the policy prefers. It returns the error of NewPlacer.
func (e *Entry) NewPlacer(name string, o PlacerOptions) (placement.Placer, error) {
	return NewPlacer(cmp.Or(name, e.Placer, "submesh"), o)
}

// NewPlacer makes a placer by name. Errors: an unknown name, which lists those there
// are, and bad options.
func NewPlacer(name string, o PlacerOptions) (placement.Placer, error) {
	var names []string
	for _, p := range Placers() {
		if p.Name == name {
			return p.New(o)
		}
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("placer %q is not known, want one of %s", name, strings.Join(names, ", "))
}
