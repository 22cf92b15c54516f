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
	saved := save(t, p)
	others := map[string]policy.Policy{"copy": fresh(), "policy that has read its bytes": fresh()}
	restore(t, saved, others["copy"])
	if err := passed(w, p, others["policy that has read its bytes"]); errors.Is(err, errors.ErrUnsupported) {
		delete(others, "policy that has read its bytes")
	} else if err != nil {
		t.Fatal(err)
	}
	var snapshots []*policy.Snapshot
	var plans []string
	for range rounds {
		s := w.Snapshot()
		plan := mustPlan(t, p, s)
		snapshots, plans = append(snapshots, s), append(plans, describePlan(plan))
		for name, q := range others {
			if got, want := describePlan(mustPlan(t, q, s)), describePlan(plan); got != want {
				t.Fatalf("round %d: the policy plans\n%s\nand a %s\n%s", s.Round, want, name, got)
			}
		}
		w.Advance(t, plan)
	}
	for range 2 { // what the policy and the first copy did must not have changed what was saved
		q := fresh()
		restore(t, saved, q)
		for i, s := range snapshots {
			if got := describePlan(mustPlan(t, q, s)); got != plans[i] {
				t.Fatalf("round %d: the policy plans\n%s\nand a copy restored later\n%s", s.Round, plans[i], got)
			}
		}
	}
}

func save(t *rapid.T, p policy.Policy) *memory.Image {
	of, _ := p.(policy.Rememberer)
	image, err := memory.Take(of)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func restore(t *rapid.T, image *memory.Image, p policy.Policy) {
	into, _ := p.(policy.Rememberer)
	if err := image.Restore(into); err != nil {
		t.Fatal(err)
	}
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
