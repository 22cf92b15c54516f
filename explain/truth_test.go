package explain

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
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
		"a price by a hair":      {policy.Reason{Kind: policy.WaitPrice, Config: two, Value: 0.99996, Limit: 1}, none, "its best offer is 0.99996 per a100 GPU (for 2 a100 GPUs) and today's price is 1; it runs when the price falls below its offer or the cluster gains 2 a100 GPUs"},
		"a tie":                  {policy.Reason{Kind: policy.WaitPrice, Config: two, Value: 1, Limit: 1 + 1e-15}, none, "its best offer, 1 per a100 GPU (for 2 a100 GPUs), equals today's price, and the GPUs went to others; it runs when the price falls or the cluster gains 2 a100 GPUs"},
		"a tie with GPUs free":   {policy.Reason{Kind: policy.WaitPrice, Config: four, Value: 1, Limit: 1}, none, "equals today's price, at which a plan may leave it out;"},
		"a move that costs less": {policy.Reason{Kind: policy.Moved, Config: config(1, 8, "a100"), Value: 8.87, Limit: 13.3}, four, "it leaves GPUs that are worth more to others: what it had costs 16 at today's prices, and what it gets 4 (its normalised goodput falls from 13.3 to 8.87)"},
		"a move for nothing":     {policy.Reason{Kind: policy.Moved, Config: config(2, 4, "t4"), Value: 4, Limit: 4}, four, "the plan for all jobs together moves it, no gain of its own (its normalised goodput stays 4)"},
		"a move to other nodes":  {policy.Reason{Kind: policy.Moved, Config: config(2, 4, "t4"), Value: 4, Limit: 3}, four, "other nodes take its normalised goodput from 3 to 4"},
		"growth that is a move":  {policy.Reason{Kind: policy.Grown, Config: config(2, 4, "t4"), Value: 4, Limit: 4}, four, "the plan for all jobs together moves it, no gain of its own (its normalised goodput stays 4)"},
		"growth without numbers": {policy.Reason{Kind: policy.Grown, Config: config(1, 1, "t4")}, four, "its policy has more GPUs for it"},
		"a loss by a hair":       {policy.Reason{Kind: policy.Shrunk, Config: four, Value: 0.60001, Limit: 0.60002}, config(1, 2, "t4"), "they were worth 0.60001 each to it, and their price is 0.60002;"},
		"a restart by a hair":    {policy.Reason{Kind: policy.KeptNoRestart, Config: four, Value: 1.1201, Limit: 1.1202}, two, "would be 1.1201 times as good, and a restart pays only from 1.1202 times; it changes when the gain reaches 1.1202 times"},
		"free since":             {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 1, "t4"), Value: 0, Limit: 1}, none, "it needs at least 1 t4 GPU and none was free in the last round; 6 are free now, and the next round decides anew"},
		"taken since":            {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 1, "a100"), Value: 4, Limit: 1}, none, "it needs at least 1 a100 GPU and none is free; it runs when 1 more comes free or is added to the cluster"},
		"what it requested":      {policy.Reason{Kind: policy.WaitNoCapacity, Config: config(2, 12, "a100"), Value: 4, Limit: 12}, none, "its policy would give it no fewer than 12 a100 GPUs on 2 nodes, as many as it requested, and none is free; it runs when 12 more come free"},
		"more than it asked for": {policy.Reason{Kind: policy.WaitNoCapacity, Config: two, Limit: 2}, none, "its policy would give it no fewer than 2 a100 GPUs, more than the least that it asked for, and none is free;"},
		"a queue":                {policy.Reason{Kind: policy.WaitOrder, Value: 2, Limit: 12}, none, "2 jobs are ahead of it in the queue, and its policy would give it no fewer than 12 GPUs, as many as it requested; it runs when those have started and 12 GPUs of one type are free (6 t4 now)"},
		"nobody ahead":           {policy.Reason{Kind: policy.WaitOrder, Limit: 1}, none, "others keep what they have, and it needs 1 GPU; it runs when 1 GPU of one type is free (6 t4 now)"},
		"enough GPUs":            {policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 2}}, none, "its policy finds no way to run it on this cluster, though that has 24 GPUs that it may use; it runs if the cluster changes"},
		"not of one type":        {policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: 30}}, none, "it asks for 30 GPUs, and the cluster has 24 in all; it never runs"},
	} {
		s := explainContext{spec: elastic, why: c.why, holds: c.holds, view: view}
		if got := s.because(); !strings.Contains(got, c.text) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.text)
		}
	}
}

var none cluster.Configuration

// A job that was lost with its node waits without a reason until a round has decided on it.
func TestAt_after_a_loss_has_no_old_reason(t *testing.T) {
	s, err := At(reader(t, story(t)), "cifar10-17", 30*60e9+15e9)
	if got := render(t, s, err); !strings.Contains(got, "no round has decided on it yet") || strings.Contains(got, "keeps what it has") {
		t.Error(got)
	}
}
