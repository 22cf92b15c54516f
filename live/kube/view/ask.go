package view

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/kube/wire"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

var errUnanswered = errors.New("the scheduler did not answer")

const (
	questionWait = 30 * time.Second // a simulation takes at most 10 s, and may wait for another
	questionPoll = 500 * time.Millisecond
)

// MayAsk reports whether the user may ask the scheduler in the given namespace.
func (k *Kubectl) MayAsk(ctx context.Context, namespace string) bool {
	for _, verb := range []string{"get", "patch"} {
		said, err := k.call(ctx, "auth", "can-i", verb, "configmaps/"+wire.QuestionMap, "-n", namespace)
		if err != nil || strings.TrimSpace(string(said)) != "yes" {
			return false
		}
	}
	return true
}

// Ask sends question q about a queue, with jobs named by uid, to the scheduler in namespace. It returns ErrForbidden
// without the right, ErrNotFound without the ConfigMap, or ErrUnanswered.
func (k *Kubectl) Ask(ctx context.Context, namespace, queue string, q json.RawMessage) (json.RawMessage, error) {
	return k.request(ctx, namespace, &wire.Request{Queue: queue, Question: q})
}

// Try asks when a new job would start in a queue. Arguments and errors are as in Ask.
func (k *Kubectl) Try(ctx context.Context, namespace, queue string, spec *job.Spec) (*whatif.TrialAnswer, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	if text, err = k.request(ctx, namespace, &wire.Request{Queue: queue, Try: text}); err != nil {
		return nil, err
	}
	a := new(whatif.TrialAnswer)
	return a, json.Unmarshal(text, a)
}

func (k *Kubectl) request(ctx context.Context, namespace string, of *wire.Request) (json.RawMessage, error) {
	of.ID = rand.Text()
	patch, err := wire.PatchQuestion(wire.RequestKey, of)
	if err != nil {
		return nil, err
	}
	if _, err := k.call(ctx, "patch", "configmap", wire.QuestionMap, "-n", namespace, "--type", "merge", "-p", string(patch)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, questionWait, fmt.Errorf("%w within %v", errUnanswered, questionWait))
	defer cancel()
	for {
		text, err := k.replyTo(ctx, namespace, of.ID)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil || text != nil:
			return text, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(questionPoll):
		}
	}
}

func (k *Kubectl) replyTo(ctx context.Context, namespace, id string) (json.RawMessage, error) {
	m, err := get[struct {
		Data map[string]string `json:"data"`
	}](ctx, k, "configmap", wire.QuestionMap, "-n", namespace)
	if err != nil {
		return nil, err
	}
	asked, said := wire.ReadQuestion(m.Data)
	switch {
	case said.ID == id && said.Refused != "":
		return nil, fmt.Errorf("%w: %s", errUnanswered, said.Refused)
	case said.ID == id:
		return said.Answer, nil
	case asked.ID != id:
		return nil, fmt.Errorf("%w: another user asked a question meanwhile; ask again", errUnanswered)
	}
	return nil, nil
}
