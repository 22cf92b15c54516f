// Package registry is the table of policies and placers that can be chosen by name. It knows none
// of them: each policy adds itself when a program imports it. Packages policy/standard and
// policy/rivals import the policies of this repository.
package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/policy"
)

// An Entry is one policy of the table.
type Entry struct {
	Name     string
	Doc      string    // one sentence
	Settings []Setting // what can be set by name
	Placer   string    // the placer that it prefers; empty: submesh
	// New makes the policy. Settings that are not given have their defaults.
	// It returns an error that joins all complaints: settings the policy does
	// not have, and values that cannot be read.
	New func(settings map[string]string) (policy.Policy, error)
}

// Traits returns the traits of the policy with default settings, or none if its default settings
// do not make a policy.
func (e *Entry) Traits() policy.Traits {
	p, err := e.New(nil)
	if err != nil {
		return policy.Traits{}
	}
	return p.Traits()
}

// SettingNames returns the names of the policy's settings, in order.
func (e *Entry) SettingNames() []string { return namesOf(e.Settings) }

func namesOf(settings []Setting) []string {
	names := make([]string, len(settings))
	for i := range settings {
		names[i] = settings[i].Name
	}
	return names
}

// Has reports whether the policy has a setting of that name.
func (e *Entry) Has(setting string) bool { return slices.Contains(e.SettingNames(), setting) }

// order is the order in which policies are listed, as in docs/policies.md. Policies that are not
// here follow in the order in which they were added.
var order = strings.Fields("oxgang sia pollux shockwave fifo easy multifactor kueue srtf las tiresias synergy drf tetris " +
	"gavel mst ftf ossp allox gandivafair themis afs gandiva pop boa pollux-autoscale lyra")

// A row is a policy that was added. Its entry may depend on the policies that are listed before it.
type row struct {
	name  string
	entry func(before []Entry) Entry
}

var table []row

// Add adds a policy to the table. Call it from an init function. It panics if the name is taken.
func Add(e Entry) { AddAround(e.Name, func([]Entry) Entry { return e }) }

// AddAround adds a policy that is made of other policies: entry receives those that are listed
// before it. Otherwise it is as Add.
func AddAround(name string, entry func(before []Entry) Entry) {
	if slices.ContainsFunc(table, func(r row) bool { return r.name == name }) {
		panic(fmt.Sprintf("policy %s: there is one of this name already", name))
	}
	table = append(table, row{name, entry})
	slices.SortStableFunc(table, func(a, b row) int { return place(a.name) - place(b.name) })
}

// place returns the place of a policy in order.
func place(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// Policies returns the policies of the program, as they are listed.
func Policies() []Entry {
	all := make([]Entry, 0, len(table))
	for _, r := range table {
		all = append(all, r.entry(all))
	}
	return all
}

// An UnknownError says that there is no policy of a name.
type UnknownError struct {
	Name  string
	Known []string
}

// Error lists the policies there are.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("policy %q is not known, want one of %s", e.Name, strings.Join(e.Known, ", "))
}

// Find returns the entry of a name. An unknown name is an *UnknownError.
func Find(name string) (Entry, error) {
	all := Policies()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, &UnknownError{Name: name, Known: Names()}
	}
	return all[i], nil
}

// New makes a policy by name, with the errors of Find and of the entry's New.
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

// Names returns the names of all policies, as they are listed.
func Names() []string {
	names := make([]string, len(table))
	for i, r := range table {
		names[i] = r.name
	}
	return names
}
