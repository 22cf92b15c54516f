package policytest

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/policy"
)

func remembers(t *rapid.T, fresh func() policy.Policy) {
	w, p := drawWorld(t), fresh()
	for range rapid.IntRange(1, rounds).Draw(t, "rounds before") {
		w.Advance(t, mustPlan(t, p, w.Snapshot()))
	}
	others := map[string]policy.Policy{}
	for name, pass := range map[string]func(*World, policy.Policy, policy.Policy) error{"copy": copied, "policy that has read its bytes": passed} {
		others[name] = fresh()
		if err := pass(w, p, others[name]); errors.Is(err, errors.ErrUnsupported) {
			delete(others, name)
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for range rounds {
		s := w.Snapshot()
		plan := mustPlan(t, p, s)
		for name, q := range others {
			if got, want := describePlan(mustPlan(t, q, s)), describePlan(plan); got != want {
				t.Fatalf("round %d: the policy plans\n%s\nand a %s\n%s", s.Round, want, name, got)
			}
		}
		w.Advance(t, plan)
	}
}

func copied(_ *World, from, to policy.Policy) error {
	of, remembers := from.(policy.Rememberer)
	if !remembers {
		return nil
	}
	image, err := memory.Take(of)
	if err != nil {
		return err
	}
	return image.Restore(to.(policy.Rememberer)) //nolint:forcetypeassert // same type
}

func passed(w *World, from, to policy.Policy) error {
	of, remembers := from.(policy.Rememberer)
	if !remembers {
		return nil
	}
	data, err := memory.Marshal(&owner{w, of})
	if err != nil {
		return err
	}
	return memory.Unmarshal(data, &owner{w, to.(policy.Rememberer)}) //nolint:forcetypeassert // same type
}

type owner struct {
	w      *World
	policy policy.Rememberer
}

func (o *owner) Remember(m *memory.Codec) {
	memory.Own(m, o.w.cluster)
	for _, j := range o.w.jobs {
		memory.Own(m, j)
		memory.Own(m, j.Spec)
		memory.Own(m, j.Perf)
		memory.Own(m, j.Limits)
		memory.Own(m, j.Sensitivity)
	}
	m.Fields(o.policy)
}
