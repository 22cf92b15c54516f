package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// Sentences whose numbers do not bear out what a reason mostly means say what they do bear out.
func TestSentences_are_true_of_their_numbers(t *testing.T) {
	dear, cheap := 2.0, 1.0
	view := View{Types: []TypeView{{Type: "a100", GPUs: 16, Free: 0, Price: &dear}, {Type: "t4", GPUs: 24, Free: 6, Price: &cheap}, {Type: "v100", GPUs: 4}}}
	held := map[cluster.GPUType]*holders{"a100": {free: []string{"a", "b"}}, "v100": {pinned: []string{"sh1", "py1", "py2"}}, "t4": {pinned: []string{"sh2"}, free: []string{"c"}}}
	two, four := config(1, 2, "a100"), config(1, 4, "t4")
	elastic := &job.Spec{ID: "j", GPUs: 12, Adaptivity: job.Adaptive}
	for name, c := range map[string]struct {
		why   policy.Reason
		holds cluster.Configuration
		text  string
	}{
		"a price by a hair":        {policy.Reason{Kind: policy.WaitPrice, Config: two, Value: 0.99996, Limit: 1}, none, "others gain 1.00004 times as much per a100 GPU, compared with its best choice of 2 a100 GPUs"},
		"a price of its own":       {policy.Reason{Kind: policy.WaitPrice, Config: two, Value: 1, Limit: 1.000001}, none, "its gain per a100 GPU with 2 a100 GPUs, its best choice, equals today's price"},
		"no turn yet":              {policy.Reason{Kind: policy.WaitTurn, Limit: 77}, none, "jobs take turns, and it has had no turn yet; its turn comes after the turns of other jobs"},
		"the GPU that it needs":    {policy.Reason{Kind: policy.WaitBackfill, Value: 60, Limit: 1}, none, "the GPU that it needs is free, but its start would delay the first job in the queue, which is expected to start in 1m00s"},
		"a tie":                    {policy.Reason{Kind: policy.WaitPrice, Config: two, Value: 1, Limit: 1 + 1e-15}, none, "no GPU of its best type is free, because all 16 a100 GPUs are held by jobs that gain as much from them (a and b)"},
		"held for good":            {policy.Reason{Kind: policy.WaitPrice, Config: config(1, 1, "v100"), Value: 1, Limit: 1}, none, "no GPU of its best type is free, because all 4 v100 GPUs are held by jobs that cannot be preempted (sh1, py1 and py2)"},
		"held for good by some":    {policy.Reason{Kind: policy.WaitPrice, Config: config(1, 8, "t4"), Value: 1, Limit: 2}, none, "its best choice is 8 t4 GPUs, and 6 are free; the other 18 t4 GPUs are held by 2 jobs, 1 of them not preemptible (sh2 and c)"},
		"too few, all for good":    {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 1, "v100"), Limit: 1}, none, "it needs at least 1 v100 GPU, and none is free; all are held by jobs that cannot be preempted (sh1, py1 and py2)"},
		"a tie with GPUs free":     {policy.Reason{Kind: policy.WaitPrice, Config: four, Value: 1, Limit: 1}, none, "6 t4 GPUs are free, but starting it was not better for all jobs together"},
		"a move that costs less":   {policy.Reason{Kind: policy.Moved, Config: config(1, 8, "a100"), Value: 8.87, Limit: 13.3}, four, "other jobs gain more from the GPUs that it leaves, and it is 33 % slower than before\nits previous GPUs cost 4 times as much as its present ones at today's prices"},
		"a move for nothing":       {policy.Reason{Kind: policy.Moved, Config: config(2, 4, "t4"), Value: 4, Limit: 4}, four, "its move is better for all jobs together, and it is as fast as before"},
		"fewer that are as good":   {policy.Reason{Kind: policy.Moved, Config: config(1, 8, "t4"), Value: 2, Limit: 2}, four, "fewer GPUs are as good for it"},
		"fewer that are better":    {policy.Reason{Kind: policy.Moved, Config: config(1, 8, "t4"), Value: 3, Limit: 2}, four, "fewer GPUs make it 1.5 times as fast"},
		"a move to other nodes":    {policy.Reason{Kind: policy.Moved, Config: config(2, 4, "t4"), Value: 4, Limit: 3}, four, "other nodes make it 1.33 times as fast"},
		"growth that is a move":    {policy.Reason{Kind: policy.Grown, Config: config(2, 4, "t4"), Value: 4, Limit: 4}, four, "its move is better for all jobs together, and it is as fast as before"},
		"a move of unknown speed":  {policy.Reason{Kind: policy.Moved, Config: config(2, 4, "t4")}, four, "its move is better for all jobs together"},
		"a start at the least":     {policy.Reason{Kind: policy.Started, Config: four, Value: 1}, four, "its policy has GPUs for it"},
		"a start of unknown speed": {policy.Reason{Kind: policy.Started, Config: four}, four, "its policy has GPUs for it"},
		"growth without numbers":   {policy.Reason{Kind: policy.Grown, Config: config(1, 1, "t4")}, four, "its policy has more GPUs for it"},
		"a loss by a hair":         {policy.Reason{Kind: policy.Shrunk, Config: four, Value: 0.60001, Limit: 0.60002}, config(1, 2, "t4"), "its GPUs are worth 1.00002 times as much"},
		"a restart by a hair":      {policy.Reason{Kind: policy.KeptNoRestart, Config: four, Value: 1.1201, Limit: 1.1202}, two, "would be 1.1201 times as good, and a restart pays only from 1.1202 times"},
		"free since":               {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 1, "t4"), Value: 0, Limit: 1}, none, "it needs at least 1 t4 GPU, and none was free in the last round"},
		"taken since":              {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 1, "a100"), Value: 4, Limit: 1}, none, "it needs at least 1 a100 GPU, and none is free"},
		"what it requested":        {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(2, 12, "a100"), Value: 4, Limit: 12}, none, "its policy starts it only with all 12 GPUs that it requested, and no type has more than 6 free"},
		"more than it asked for":   {policy.Reason{Kind: policy.WaitNoCapacity, Config: two, Limit: 2}, none, "its policy offers it no fewer than 2 a100 GPUs, and none is free"},
		"a queue":                  {policy.Reason{Kind: policy.WaitOrder, Value: 2, Limit: 12}, none, "2 jobs are ahead of it in the queue, and its policy starts it only with all 12 GPUs that it requested"},
		"a queue with free GPUs":   {policy.Reason{Kind: policy.WaitOrder, Value: 2, Limit: 6}, none, "2 jobs are ahead of it in the queue, and its policy offers it no fewer than 6 GPUs; 6 t4 GPUs are free, but the jobs ahead of it come first"},
		"one ahead, and free GPUs": {policy.Reason{Kind: policy.WaitOrder, Value: 1, Limit: 1}, none, "1 job is ahead of it in the queue, and it needs 1 GPU; 6 t4 GPUs are free, but the job ahead of it comes first"},
		"nodes went back":          {policy.Reason{Kind: policy.Reclaimed, Config: config(1, 8, "t4")}, two, "the owner took back its nodes, with 8 t4 GPUs; it continues on other nodes"},
		"nodes that came":          {policy.Reason{Kind: policy.WaitNodes, Config: four, Value: 1}, none, "1 rented node for the 4 t4 GPUs planned for it was not up in the last round; "},
		"nodes that have not come": {policy.Reason{Kind: policy.WaitNodes, Config: two, Value: 2}, none, "2 rented nodes for the 2 a100 GPUs planned for it have not arrived yet; "},
		"not of the only type":     {policy.Reason{Kind: policy.Impossible, Config: config(4, 30, "t4")}, none, "it asks for 30 t4 GPUs on 4 nodes, and the cluster has 24 in all; it can run only if"},
		"more than all types have": {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 8, "t4"), Value: 0, Limit: 8}, none, "its policy offers it no fewer than 8 GPUs of one type, and no type has more than 6 free"},
		"nobody ahead":             {policy.Reason{Kind: policy.WaitOrder, Limit: 1}, none, "it is first in the queue, running jobs keep their GPUs, and it needs 1 GPU"},
		"enough GPUs":              {policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 2}}, none, "its policy finds no way to run it on this cluster, although the cluster has 24 GPUs that it may use; it can run only if the cluster changes"},
		"not of one type":          {policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 30}}, none, "it asks for 30 GPUs of one type, and the cluster has at most 24; it can run only if"},
	} {
		s := explainContext{spec: elastic, why: c.why, holds: c.holds, view: view, holders: held[c.why.Config.GPUType]}
		if got := s.because() + "\n" + s.details(); !strings.Contains(got, c.text) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.text)
		}
	}
}

// A job that grew or shrank may have left its nodes for another job: then the sentence says so.
func TestElsewhere(t *testing.T) {
	held := cluster.Allocation{Configuration: config(2, 8, "t4")}
	for _, c := range []struct {
		what What
		more map[cluster.NodeID]int
		want string
	}{
		{Grown, map[cluster.NodeID]int{"a": 4}, ""},
		{Grown, map[cluster.NodeID]int{"a": -2, "b": 4}, ", some of them on other nodes"},
		{Grown, map[cluster.NodeID]int{"a": -4, "b": -4, "c": 12}, ", all on other nodes"},
		{Shrunk, map[cluster.NodeID]int{"a": -4}, ""},
		{Shrunk, map[cluster.NodeID]int{"a": -6, "b": 2}, ", some of them on other nodes"},
		{Shrunk, map[cluster.NodeID]int{"a": -8, "b": 4}, ", all on other nodes"},
		{Moved, map[cluster.NodeID]int{"a": -8, "b": 8}, ""},
	} {
		if got := elsewhere(c.what, held, c.more); got != c.want {
			t.Errorf("%s, %v: got %q, want %q", c.what, c.more, got, c.want)
		}
	}
}

// Both moves are listed, and GPUs like the present ones are no row of their own.
func TestLife_of_a_job_that_moves_twice(t *testing.T) {
	r, m := newRun(t), time.Minute
	r.submit(0, "j")
	two, moved := config(1, 2, "a100"), policy.Reason{Kind: policy.Moved, Config: config(1, 2, "a100"), Value: 1, Limit: 1}
	r.round(m, 0, decided{"j", policy.Reason{Kind: policy.Started}, two, "a0", true})
	r.round(2*m, 0, decided{"j", moved, two, "t0", true})
	r.round(3*m, 0, decided{"j", moved, two, "a0", true})
	text := r.text()
	life, err := Life(reader(t, text), "j")
	if got := render(t, life, err); !strings.Contains(got, "0h02m00s  moved to another node, again with 2 a100 GPUs: ") || !strings.Contains(got, "0h03m00s  moved to another node, again with 2 a100 GPUs: ") {
		t.Error(got)
	}
	s, err := At(reader(t, text), "j", 3*m)
	if got := render(t, s, err); strings.Contains(got, "\n  before ") {
		t.Error(got)
	}
}

var none cluster.Configuration

// Of a job that counts GPUs of one type as several of another, the page says how many, and its needs are in the type's own.
func TestSentences_where_GPUs_are_worth_different(t *testing.T) {
	spec := &job.Spec{ID: "j", GPUs: 8, Equivalents: map[cluster.GPUType]int{"t4": 3}}
	view := View{Types: []TypeView{{Type: "v100", GPUs: 16}, {Type: "t4", GPUs: 32, Free: 6}}}
	s := explainContext{spec: spec, why: policy.Reason{Kind: policy.WaitNoCapacity, Config: config(3, 24, "t4"), Value: 6, Limit: 24}, view: view}
	if got, want := s.because(), "it needs 24 t4 GPUs on 3 nodes, and 6 are free"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := asked(spec, NotKnown), "exactly 8 GPUs of any type, 3 t4 GPUs count as one"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a job asks for begins with its request, from which its policy may deviate only to the limits in parentheses.
func TestAsked(t *testing.T) {
	for want, spec := range map[string]*job.Spec{
		"exactly 6 GPUs of any type":                                     {GPUs: 6},
		"8 GPUs of any type (accepts 1 or more), batch size 128 to 4096": {GPUs: 8, Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 128, Max: 4096}},
		"8 GPUs of type a100 or t4 (accepts 2 or more)":                  {GPUs: 8, MinGPUs: 2, Adaptivity: job.GPUCount, GPUTypes: []cluster.GPUType{"a100", "t4"}},
		"8 or more GPUs of any type":                                     {GPUs: 8, MinGPUs: 8, Adaptivity: job.GPUCount},
		"2 GPUs of any type (accepts 1 to 8)":                            {GPUs: 2, MaxGPUs: 8, Adaptivity: job.GPUCount},
	} {
		if got := asked(spec, NotKnown); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A job that was lost with its node waits without a reason until a round has decided on it.
func TestAt_after_a_loss_has_no_old_reason(t *testing.T) {
	s, err := At(reader(t, story(t)), "cifar10-17", 30*60e9+15e9)
	if got := render(t, s, err); !strings.Contains(got, "the next round decides on it") || strings.Contains(got, "keeps its GPUs") {
		t.Error(got)
	}
}
