package explain

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// Sentences whose numbers do not bear out what a reason mostly means say what they do bear out.
func TestSentences_are_true_of_their_numbers(t *testing.T) {
	dear, cheap := 2.0, 1.0
	view := View{Types: []TypeView{{Type: "a100", GPUs: 16, Free: 0, Price: &dear}, {Type: "t4", GPUs: 24, Free: 6, Price: &cheap}}}
	two, four := config(1, 2, "a100"), config(1, 4, "t4")
	elastic := &job.Spec{ID: "j", GPUs: 12, Adaptivity: job.Adaptive}
	for name, c := range map[string]struct {
		why   policy.Reason
		holds cluster.Configuration
		text  string
	}{
		"a price by a hair":        {policy.Reason{Kind: policy.WaitPrice, Config: two, Value: 0.99996, Limit: 1}, none, "others gain 1.00004 times as much per a100 GPU as it would with 2 a100 GPUs, its best choice"},
		"a price of its own":       {policy.Reason{Kind: policy.WaitPrice, Config: two, Value: 1, Limit: 1.000001}, none, "others gain as much per a100 GPU as it would with 2 a100 GPUs, its best choice, and got them"},
		"no turn yet":              {policy.Reason{Kind: policy.WaitTurn, Limit: 77}, none, "jobs take turns, and it has had none yet; its turn comes when others have had theirs"},
		"the GPU that it needs":    {policy.Reason{Kind: policy.WaitBackfill, Value: 60, Limit: 1}, none, "the GPU that it needs is free, but the first in the queue, which is believed to start in 1m00s, would start later if it took it"},
		"a tie":                    {policy.Reason{Kind: policy.WaitPrice, Config: two, Value: 1, Limit: 1 + 1e-15}, none, "others gain as much per a100 GPU as it would with 2 a100 GPUs, its best choice, and got them"},
		"a tie with GPUs free":     {policy.Reason{Kind: policy.WaitPrice, Config: four, Value: 1, Limit: 1}, none, "as they cost today, so a plan may leave it out"},
		"a move that costs less":   {policy.Reason{Kind: policy.Moved, Config: config(1, 8, "a100"), Value: 8.87, Limit: 13.3}, four, "it leaves GPUs that are worth more to others: by today's prices 4 times as much as what it gets, and it is 0.667 times as fast as before"},
		"a move for nothing":       {policy.Reason{Kind: policy.Moved, Config: config(2, 4, "t4"), Value: 4, Limit: 4}, four, "the plan for all jobs together moves it, and it is as fast as before"},
		"fewer that are as good":   {policy.Reason{Kind: policy.Moved, Config: config(1, 8, "t4"), Value: 2, Limit: 2}, four, "fewer GPUs are as good for it"},
		"fewer that are better":    {policy.Reason{Kind: policy.Moved, Config: config(1, 8, "t4"), Value: 3, Limit: 2}, four, "fewer GPUs make it 1.5 times as fast"},
		"a move to other nodes":    {policy.Reason{Kind: policy.Moved, Config: config(2, 4, "t4"), Value: 4, Limit: 3}, four, "other nodes make it 1.33 times as fast"},
		"growth that is a move":    {policy.Reason{Kind: policy.Grown, Config: config(2, 4, "t4"), Value: 4, Limit: 4}, four, "the plan for all jobs together moves it, and it is as fast as before"},
		"a move of unknown speed":  {policy.Reason{Kind: policy.Moved, Config: config(2, 4, "t4")}, four, "the plan for all jobs together moves it"},
		"a start at the least":     {policy.Reason{Kind: policy.Started, Config: four, Value: 1}, four, "there is room for it (as fast as on the least it runs on)"},
		"a start of unknown speed": {policy.Reason{Kind: policy.Started, Config: four}, four, "there is room for it"},
		"growth without numbers":   {policy.Reason{Kind: policy.Grown, Config: config(1, 1, "t4")}, four, "its policy has more GPUs for it"},
		"a loss by a hair":         {policy.Reason{Kind: policy.Shrunk, Config: four, Value: 0.60001, Limit: 0.60002}, config(1, 2, "t4"), "others gain 1.00002 times as much"},
		"a restart by a hair":      {policy.Reason{Kind: policy.KeptNoRestart, Config: four, Value: 1.1201, Limit: 1.1202}, two, "would be 1.1201 times as good, and a restart pays only from 1.1202 times"},
		"free since":               {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 1, "t4"), Value: 0, Limit: 1}, none, "it needs at least 1 t4 GPU and none was free in the last round"},
		"taken since":              {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 1, "a100"), Value: 4, Limit: 1}, none, "it needs at least 1 a100 GPU and none is free"},
		"what it requested":        {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(2, 12, "a100"), Value: 4, Limit: 12}, none, "its policy would give it no fewer than 12 a100 GPUs on 2 nodes, as many as it requested, and none is free"},
		"more than it asked for":   {policy.Reason{Kind: policy.WaitNoCapacity, Config: two, Limit: 2}, none, "its policy would give it no fewer than 2 a100 GPUs, more than the least that it asked for, and none is free"},
		"a queue":                  {policy.Reason{Kind: policy.WaitOrder, Value: 2, Limit: 12}, none, "2 jobs are ahead of it in the queue, and its policy would give it no fewer than 12 GPUs, as many as it requested"},
		"nodes went back":          {policy.Reason{Kind: policy.Reclaimed, Config: config(1, 8, "t4")}, two, "the nodes that it was on, with 8 t4 GPUs, went back to their owner; it goes on elsewhere"},
		"nobody ahead":             {policy.Reason{Kind: policy.WaitOrder, Limit: 1}, none, "others keep what they have, and it needs 1 GPU"},
		"enough GPUs":              {policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 2}}, none, "its policy finds no way to run it on this cluster, though that has 24 GPUs that it may use; it runs if the cluster changes"},
		"not of one type":          {policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 30}}, none, "it asks for 30 GPUs, and the cluster has 24 in all; it never runs"},
	} {
		s := explainContext{spec: elastic, why: c.why, holds: c.holds, view: view}
		if got := s.because(); !strings.Contains(got, c.text) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.text)
		}
	}
}

var none cluster.Configuration

// Of a job that counts GPUs of one type as several of another, the page says how many, and its needs are in the type's own.
func TestSentences_where_GPUs_are_worth_different(t *testing.T) {
	spec := &job.Spec{ID: "j", GPUs: 8, Equivalents: map[cluster.GPUType]int{"t4": 3}}
	view := View{Types: []TypeView{{Type: "v100", GPUs: 16}, {Type: "t4", GPUs: 32, Free: 6}}}
	s := explainContext{spec: spec, why: policy.Reason{Kind: policy.WaitNoCapacity, Config: config(3, 24, "t4"), Value: 6, Limit: 24}, view: view}
	if got, want := s.because(), "it needs at least 24 t4 GPUs on 3 nodes and 6 are free"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := asked(spec), "exactly 8 GPUs of any type, 3 t4 for one"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A job that was lost with its node waits without a reason until a round has decided on it.
func TestAt_after_a_loss_has_no_old_reason(t *testing.T) {
	s, err := At(reader(t, story(t)), "cifar10-17", 30*60e9+15e9)
	if got := render(t, s, err); !strings.Contains(got, "no round has decided on it yet") || strings.Contains(got, "keeps what it has") {
		t.Error(got)
	}
}
