package registry

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/policy/rivals/afs"
	"github.com/oxgang/oxgang/policy/rivals/gandiva"
	"github.com/oxgang/oxgang/policy/rivals/themis"
)

// tiresiasEntry is Tiresias-L.
func tiresiasEntry() Entry {
	d := queue.DefaultTiresias()
	settings := []Setting{
		{"threshold", d.Threshold.String(), "GPU time after which a job falls into the second queue"},
		{"promote", fmt.Sprint(d.Promote), "a job that waited this many times as long as it ran comes back to the first queue; 0: never"},
		{"backfill", "true", "whether a job may pass one ahead of it that does not fit (true, false)"},
	}
	return Entry{Name: "tiresias", Doc: "Tiresias-L: least attained GPU service first, in two queues; jobs run as submitted and may be preempted.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o, backfill := queue.DefaultTiresias(), true
		r := read(given, settings)
		r.duration("threshold", &o.Threshold)
		r.float("promote", &o.Promote)
		r.bool("backfill", &backfill)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		line, err := queue.Tiresias(o)
		if err != nil {
			return nil, err
		}
		line.Backfill = backfill
		return queue.New(line), nil
	}}
}

// adaptive is the filter of Themis that is not a number.
const adaptive = "adaptive"

// themisEntry is Themis.
func themisEntry() Entry {
	d := themis.DefaultOptions()
	settings := []Setting{
		{"filter", fmt.Sprint(d.Filter), "part of the jobs that bid, those treated worst, above 0 and at most 1; or adaptive: 1/3 or 2/3"},
		{"payments", strconv.FormatBool(d.Payments), "whether winners pay with a part of their GPUs (true, false)"},
	}
	return Entry{Name: "themis", Doc: "Themis: the jobs with the worst finish-time fairness bid for GPUs in an auction each round; others have what is left.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := themis.DefaultOptions()
		r := read(given, settings)
		if o.Adaptive = given["filter"] == adaptive; !o.Adaptive {
			r.float("filter", &o.Filter)
		}
		r.bool("payments", &o.Payments)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return themis.New(o)
	}}
}

// afsEntry is AFS-L.
func afsEntry() Entry {
	d := afs.DefaultOptions()
	settings := []Setting{
		{"steady", strconv.FormatBool(d.Steady), "whether jobs keep what they have until jobs or nodes come or go (true, false)"},
	}
	return Entry{Name: "afs", Doc: "AFS-L: each GPU to the elastic job with which, compared in pairs, both end soonest; rigid jobs by remaining time.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := afs.DefaultOptions()
		r := read(given, settings)
		r.bool("steady", &o.Steady)
		return afs.New(o), errors.Join(r.errs...)
	}}
}

// gandivaEntry is Gandiva.
func gandivaEntry() Entry {
	d := gandiva.DefaultOptions()
	settings := []Setting{
		{"slice", d.Slice.String(), "time for which jobs keep the GPUs they got; less than a round is a round"},
		{"restarts", fmt.Sprint(d.Restarts), "a slice is at least this many times as long as a restart"},
		{"grow", strconv.FormatBool(d.Grow), "whether elastic jobs may have GPUs that nobody else can use (true, false)"},
	}
	return Entry{Name: "gandiva", Doc: "Gandiva: jobs take turns on the GPUs, in a circle; elastic ones grow where GPUs are idle.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := gandiva.DefaultOptions()
		r := read(given, settings)
		r.duration("slice", &o.Slice)
		r.float("restarts", &o.Restarts)
		r.bool("grow", &o.Grow)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return gandiva.New(o)
	}}
}
