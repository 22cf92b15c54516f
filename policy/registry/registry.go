// Package registry finds policies and placers by name. Each policy registers itself when a program imports it;
// packages policy/standard and policy/rivals import the policies of this repository.
package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// An Entry is a policy that can be chosen by name, with its settings.
type Entry struct {
	Name     string
	Doc      string // one sentence
	Settings []Setting
	Placer   string // name of the preferred placer; empty means submesh
	// New makes the policy from settings, with defaults for the missing ones.
	New func(settings map[string]string) (policy.Policy, error)
}

// Traits returns the traits that the policy has with default settings.
func (e *Entry) Traits() policy.Traits {
	p, err := e.New(nil)
	if err != nil {
		return policy.Traits{}
	}
	return p.Traits()
}

// SettingNames returns the names of the settings, in order.
func (e *Entry) SettingNames() []string { return namesOf(e.Settings) }

func namesOf(settings []Setting) []string {
	names := make([]string, len(settings))
	for i := range settings {
		names[i] = settings[i].Name
	}
	return names
}

// Has reports whether the policy has a setting.
func (e *Entry) Has(setting string) bool { return slices.Contains(e.SettingNames(), setting) }

// order is the order of listings, as in docs/policies.md.
var order = strings.Fields("oxgang sia pollux shockwave fifo easy multifactor kueue srtf las tiresias synergy drf tetris " +
	"gavel mst ftf ossp allox gandivafair themis afs gandiva pop boa pollux-autoscale lyra")

type row struct {
	name  string
	entry func(before []Entry) Entry
}

var table []row

// Add makes a policy available by name. Call it in an init function. It panics if the name is already used.
func Add(e Entry) { AddAround(e.Name, func([]Entry) Entry { return e }) }

// AddAround is Add for a policy that runs other policies. It calls entry with all policies that come before name in the
// list of Policies; entry returns the new policy.
func AddAround(name string, entry func(before []Entry) Entry) {
	if slices.ContainsFunc(table, func(r row) bool { return r.name == name }) {
		panic(fmt.Sprintf("policy %s: this name is taken", name))
	}
	table = append(table, row{name, entry})
	slices.SortStableFunc(table, func(a, b row) int { return place(a.name) - place(b.name) })
}

func place(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// Policies returns all policies, in the order in which they are listed.
func Policies() []Entry {
	all := make([]Entry, 0, len(table))
	for _, r := range table {
		all = append(all, r.entry(all))
	}
	return all
}

// An UnknownError reports an unknown policy name.
type UnknownError struct {
	Name  string
	Known []string
}

// Error states the unknown name and lists the known policies.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("policy %q is not known, want one of %s", e.Name, strings.Join(e.Known, ", "))
}

// Find returns the policy called name, or an *UnknownError.
func Find(name string) (Entry, error) {
	all := Policies()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, &UnknownError{Name: name, Known: Names()}
	}
	return all[i], nil
}

// New makes the policy with a name and settings.
func New(name string, settings map[string]string) (policy.Policy, error) {
	e, err := Find(name)
	if err != nil {
		return nil, err
	}
	p, err := e.New(settings)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	return p, nil
}

// Names returns the names of all policies, in the order in which they are listed.
func Names() []string {
	names := make([]string, len(table))
	for i, r := range table {
		names[i] = r.name
	}
	return names
}

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
