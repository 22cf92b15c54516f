package queue

import (
	"fmt"

	"github.com/oxgang/oxgang/policy/registry"
)

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "fifo", Doc: "First in, first out; jobs run as submitted and are not preempted.",
	}, FIFO, bindFIFO, func(o Options) (*Policy, error) { return New(o), nil }))
	registry.Add(lineEntry("srtf", "Shortest remaining time first, by estimated speed; jobs run as submitted and may be preempted.", SRTF))
	registry.Add(lineEntry("las", "Least attained GPU service first; jobs run as submitted and may be preempted.", LAS))
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "easy", Doc: "First in, first out with EASY backfilling: a job may pass others unless it delays the first in line; jobs run as submitted and are not preempted.",
	}, EASY, bindEASY, buildEASY))
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "tiresias", Doc: "Tiresias-L: least attained GPU service first, in two queues; jobs run as submitted and may be preempted.",
	}, func() tiresias { return tiresias{defaultTiresias(), true} }, bindTiresias, buildTiresias))
}

func lineEntry(name, doc string, defaults func() Options) registry.Entry {
	bind := func(s *registry.Settings, o *Options) { bindBackfill(s, &o.Backfill) }
	build := func(o Options) (*Policy, error) { return New(o), nil }
	return registry.WithOptions(registry.Entry{Name: name, Doc: doc}, defaults, bind, build)
}

func bindFIFO(s *registry.Settings, o *Options) {
	bindBackfill(s, &o.Backfill)
	bindByNode(s, o)
}

func bindBackfill(s *registry.Settings, to *bool) {
	s.Var("backfill", to, "let jobs pass a job ahead of them that does not fit (true, false)")
}

func bindByNode(s *registry.Settings, o *Options) {
	s.Var("by-node", &o.ByNode, "start a job only if it fits on nodes, next to the running jobs; without effect if reservations is above 1 (true, false)")
}

func bindEASY(s *registry.Settings, o *Options) {
	s.Var("reservations", &o.Reservations, "number of waiting jobs that backfilling may not delay: 1 is EASY, more is conservative backfilling")
	bindByNode(s, o)
}

func buildEASY(o Options) (*Policy, error) {
	if o.Reservations < 1 {
		return nil, fmt.Errorf("setting reservations is %d, want at least 1", o.Reservations)
	}
	return New(o), nil
}

type tiresias struct {
	TiresiasOptions
	backfill bool
}

func bindTiresias(s *registry.Settings, o *tiresias) {
	s.Var("threshold", &o.Threshold, "GPU time after which a job moves to the second queue")
	s.Var("promote", &o.Promote, "a job returns to the first queue after waiting this many times as long as it ran; 0: never")
	bindBackfill(s, &o.backfill)
}

func buildTiresias(o tiresias) (*Policy, error) {
	line, err := Tiresias(o.TiresiasOptions)
	if err != nil {
		return nil, err
	}
	line.Backfill = o.backfill
	return New(line), nil
}
