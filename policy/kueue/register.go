package kueue

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "kueue", Doc: "As Kueue and kube-scheduler: by priority and submission time within the quotas of queues, which borrow from each other; pods go to the least requested nodes; jobs run as submitted and are not preempted.",
	}, func() (queues string) { return "" }, bind, build))
}

func bind(s *registry.Settings, queues *string) {
	s.Var("queues", queues, `queues with quotas of GPUs: "a@cohort flavor=type|type:GPUs+borrowed-lent ...; b! ..." (go doc ./policy/kueue.ParseQueues); jobs of all other queues are admitted at once`)
}

func build(text string) (*Policy, error) {
	queues, err := ParseQueues(text)
	if err != nil {
		return nil, err
	}
	return New(Options{Queues: queues}), nil
}
