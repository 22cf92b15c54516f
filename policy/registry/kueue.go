package registry

import (
	"errors"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/kueue"
)

// kueueEntry is what clusters of Kubernetes run that have Kueue.
func kueueEntry() Entry {
	settings := []Setting{
		{"queues", "", "queues with quotas of GPUs: \"a@cohort flavor=type|type:GPUs+borrowed-lent ...; b! ...\" (go doc ./policy/kueue.ParseQueues); jobs of others are admitted at once"},
	}
	return Entry{Name: "kueue", Doc: "As Kueue and kube-scheduler: by priority and submission within the quotas of queues, which borrow from each other; then pods where least is asked for; jobs run as submitted and are not preempted.", Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		var text string
		r := read(given, settings)
		r.text("queues", &text)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		queues, err := kueue.ParseQueues(text)
		if err != nil {
			return nil, err
		}
		return kueue.New(kueue.Options{Queues: queues}), nil
	}}
}
