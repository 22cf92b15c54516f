package rivals_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/tree"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/registry"
	_ "github.com/oxgang/oxgang/policy/rivals" // all policies
)

func TestDocs(t *testing.T) {
	tree.Check(t, "policies", registry.Names())
	var placers []string
	for _, p := range registry.Placers() {
		placers = append(placers, p.Name)
	}
	tree.Check(t, "policies#placers", placers)
}

func TestNewPlacer(t *testing.T) {
	for _, test := range []struct{ policy, named, want string }{
		{"oxgang", "", "*placement.Racks"}, {"sia", "", "*submesh.Placer"}, {"synergy", "", "*pack.Placer"}, {"lyra", "", "*placement.BestFit"}, {"fifo", "best-fit", "*placement.BestFit"}, {"synergy", "submesh", "*submesh.Placer"}, {"sia", "pack", "*pack.Placer"},
	} {
		e, err := registry.Find(test.policy)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := e.NewPlacer(test.named, registry.PlacerOptions{}); err != nil || fmt.Sprintf("%T", p) != test.want {
			t.Errorf("%s with %q: %T, %v, want %s", test.policy, test.named, p, err, test.want)
		}
	}
	for _, e := range registry.Policies() {
		if _, err := e.NewPlacer("", registry.PlacerOptions{}); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	if _, err := registry.NewPlacer("pack", registry.PlacerOptions{Penalty: 2}); err == nil || !strings.Contains(err.Error(), "penalty 2, want 0 to 1") {
		t.Errorf("got error %v, want it to name the penalty", err)
	}
	if _, err := registry.NewPlacer("magic", registry.PlacerOptions{}); err == nil || !strings.HasSuffix(err.Error(), "want one of submesh, submesh-whole, best-fit, pack, racks") {
		t.Errorf("error %v, want one that names all placers", err)
	}
}

func TestConformance(t *testing.T) {
	few := map[string]string{"population": "8", "generations": "4"}
	short := map[string]map[string]string{"pollux": few, "pollux-autoscale": few}
	for _, e := range registry.Policies() {
		t.Run(e.Name, func(t *testing.T) {
			policytest.Run(t, func() policy.Policy {
				p, err := e.New(short[e.Name])
				if err != nil {
					t.Fatal(err)
				}
				return p
			})
		})
	}
}

// TestDefaults makes every policy with its documented defaults.
func TestDefaults(t *testing.T) {
	for _, e := range registry.Policies() {
		settings := make(map[string]string)
		for _, s := range e.Settings {
			settings[s.Name] = s.Default
		}
		if _, err := registry.New(e.Name, settings); err != nil {
			t.Error(err)
		}
	}
}

func TestNewExplainsWhatIsWrong(t *testing.T) {
	tests := []struct {
		policy   string
		settings map[string]string
		want     string
	}{
		{"lifo", nil, `policy "lifo" is not known, want one of ` + strings.Join(registry.Names(), ", ")},
		{"fifo", map[string]string{"bakfill": "true"}, `policy fifo: setting "bakfill" is not known, want one of backfill`},
		{"fifo", map[string]string{"backfill": "maybe"}, `policy fifo: setting backfill is "maybe", want true or false`},
		{"pop", map[string]string{"k": "many"}, `policy pop: setting k is "many", want a whole number`},
		{"pop", map[string]string{"policy": "pop"}, `policy pop: setting policy is "pop", want one of ["oxgang" `},
		{"pop", map[string]string{"policy": "fifo", "p": "-1"}, `policy pop: setting p is "-1", which policy fifo does not have`},
		{"pop", map[string]string{"p": "0"}, "policy pop: pop: sia: p 0, want"},
		{"synergy", map[string]string{"order": "lifo", "cells": "few"}, "policy synergy: synergy: order \"lifo\", want one of fifo, srtf, las, ftf, drf, tetris\ncells \"few\", want all or demand"},
		{"drf", map[string]string{"order": "fifo"}, `policy drf: setting "order" is not known, want one of mechanism, cells, solver, rules`},
		{"pollux-autoscale", map[string]string{"p": "0", "target": "1", "least": "-1", "cycles": "0"}, "policy pollux-autoscale: pollux: p 0, want -10 to 10 and not 0\ntarget 1, want above 0 and below 1\nleast -1, want at least 0\ncycles 0, want 1 to 1000"},
		{"lyra", map[string]string{"order": "lifo", "growth": "fast", "rule": "best", "loan": "some"}, "policy lyra: lyra: order \"lifo\", want sjf or fifo\ngrowth \"fast\", want knapsack, none, gandiva or afs\nrule \"best\", want greedy, random, scf or exact\nloan \"some\", want loan, opportunity or none"},
		{"lyra", map[string]string{"pause": "63", "steps": "few", "group": "no"}, "policy lyra: setting pause is \"63\", want a duration such as 180s\nsetting steps is \"few\", want a whole number\nsetting group is \"no\", want true or false"},
		{"fifo", map[string]string{"a": "", "b": ""}, "policy fifo: setting \"a\" is not known, want one of backfill, by-node\nsetting \"b\" is not known, want one of backfill, by-node"},
	}
	for _, test := range tests {
		_, err := registry.New(test.policy, test.settings)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func TestSia_takes_every_engine(t *testing.T) {
	for name, want := range map[string]string{
		"price": "", "copter": "", "pop:3:price": "",
		"pop:many": "want a whole number", "pop:0:price": "want 1 to 4096", "magic": "want one of price",
	} {
		p, err := registry.New("sia", map[string]string{"solver": name})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want == "" && p == nil:
			t.Errorf("%s: no policy", name)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
}

// TestEquivalents: a job of two GPUs, whose work three of the only type's do each, gets six.
func TestEquivalents(t *testing.T) {
	for _, e := range registry.Policies() {
		t.Run(e.Name, func(t *testing.T) {
			p, err := e.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			w := policytest.NewToy(t, 8)
			w.Submit("j", 2, time.Hour).Equivalents = map[cluster.GPUType]int{"a": 3}
			if w.Play(p); w.GPUs() != "j6" {
				t.Errorf("GPUs are %s, want j6", w.GPUs())
			}
		})
	}
}
