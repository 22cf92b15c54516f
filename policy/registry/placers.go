package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/policy/placement"
)

// A Placer is an entry of the table of placers.
type Placer struct {
	Name string
	Doc  string // one sentence
	New  func(PlacerOptions) (placement.Placer, error)
}

// PlacerOptions are the options of all placers.
type PlacerOptions struct {
	Penalty float64 // see pack.Options
}

var placers []Placer

// AddPlacers adds placers to the table. Call it from an init function.
func AddPlacers(all ...Placer) { placers = append(placers, all...) }

// Placers returns all placers.
func Placers() []Placer { return slices.Clone(placers) }

// NewPlacer makes the named placer for the entry's policy, or if name is empty the one that the policy
// prefers. Errors: see NewPlacer.
func (e *Entry) NewPlacer(name string, o PlacerOptions) (placement.Placer, error) {
	return NewPlacer(cmp.Or(name, e.Placer, "submesh"), o)
}

// NewPlacer makes a placer by name. It returns an error for unknown names, which lists the known ones, and
// for bad options.
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
