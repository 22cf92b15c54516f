package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/policy/placement"
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

var placers []Placer

// AddPlacers adds placers to the table. Call it from an init function.
func AddPlacers(all ...Placer) { placers = append(placers, all...) }

// Placers returns the placers that can be chosen by name.
func Placers() []Placer { return slices.Clone(placers) }

// NewPlacer makes the placer of a name for the entry's policy; without a name, the
// one that the policy prefers. It returns the error of NewPlacer.
func (e *Entry) NewPlacer(name string, o PlacerOptions) (placement.Placer, error) {
	return NewPlacer(cmp.Or(name, e.Placer, "submesh"), o)
}

// NewPlacer makes a placer by name. Errors: an unknown name, which lists those there
// are, and bad options.
func NewPlacer(name string, o PlacerOptions) (placement.Placer, error) {
	var names []string
	for _, p := range placers {
		if p.Name == name {
			return p.New(o)
		}
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("placer %q is not known, want one of %s", name, strings.Join(names, ", "))
}
