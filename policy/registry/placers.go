package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/policy/placement"
)

// A Placer describes a placement.Placer that can be chosen by name.
type Placer struct {
	Name string
	Doc  string // one sentence
	// returns an error for invalid options
	New func(PlacerOptions) (placement.Placer, error)
}

// PlacerOptions have the settings of all placers.
type PlacerOptions struct {
	Penalty float64 // fraction of speed that a job on several nodes loses, see pack.Options
}

var placers []Placer

// AddPlacers makes placers available by name. Call it in an init function.
func AddPlacers(all ...Placer) { placers = append(placers, all...) }

// Placers returns all placers that can be chosen by name.
func Placers() []Placer { return slices.Clone(placers) }

// NewPlacer makes the placer called name. If name is empty, it makes the placer that the policy prefers.
func (e *Entry) NewPlacer(name string, o PlacerOptions) (placement.Placer, error) {
	return NewPlacer(cmp.Or(name, e.Placer, "submesh"), o)
}

// NewPlacer makes the placer with a name.
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
