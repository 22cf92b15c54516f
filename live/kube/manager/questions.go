package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/wire"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// An answerer answers a what-if question about a queue, whose jobs are named by uid.
type answerer func(ctx context.Context, queue string, q whatif.Question) (*whatif.Answer, error)

// A trier predicts when a job would start if it were created now.
type trier func(ctx context.Context, queue string, spec *job.Spec) (*whatif.TrialAnswer, error)

const questionsAgain = 10 * time.Minute

func (l *leader) serveQuestions(ctx context.Context) error {
	maps := l.clients.CoreV1().ConfigMaps(l.o.Config.LeaderElection.Namespace)
	for ctx.Err() == nil {
		wait := time.Second
		if err := Answer(ctx, maps, l.ask, l.try); err != nil && ctx.Err() == nil {
			l.log.Info("what-if questions are not answered", "configmap", wire.QuestionMap, "err", err, "again_in", questionsAgain)
			wait = questionsAgain
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return nil
}

func (l *leader) ask(ctx context.Context, queue string, q whatif.Question) (*whatif.Answer, error) {
	d, err := l.driver(queue)
	if err != nil {
		return nil, err
	}
	return d.Ask(ctx, q)
}

func (l *leader) try(ctx context.Context, queue string, spec *job.Spec) (*whatif.TrialAnswer, error) {
	d, err := l.driver(queue)
	if err != nil {
		return nil, err
	}
	return d.Try(ctx, spec)
}

func (l *leader) driver(queue string) (*driver.Driver, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.running[queue]; r != nil && r.backend != nil {
		return r.driver, nil
	}
	return nil, fmt.Errorf("queue %s is not served", queue)
}

// Answer answers the questions in a ConfigMap until its watch ends or a reply cannot be written.
func Answer(ctx context.Context, maps clientcorev1.ConfigMapInterface, answer answerer, try trier) error {
	w, err := maps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + wire.QuestionMap})
	if err != nil {
		return err
	}
	defer w.Stop()
	answered := "" // an event from before the reply shows the question without it
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-w.ResultChan():
			if !open {
				return nil
			}
			m, ok := e.Object.(*corev1.ConfigMap)
			if !ok {
				continue
			}
			asked, said := wire.ReadQuestion(m.Data)
			if asked.ID == "" || asked.ID == said.ID || asked.ID == answered {
				continue
			}
			if err := reply(ctx, maps, &asked, answer, try); err != nil {
				return nil // the next watch shows the question again
			}
			answered = asked.ID
		}
	}
}

func reply(ctx context.Context, maps clientcorev1.ConfigMapInterface, asked *wire.Request, answer answerer, try trier) error {
	said := wire.Reply{ID: asked.ID}
	text, err := answerTo(ctx, asked, answer, try)
	if said.Answer = text; err != nil {
		said.Answer, said.Refused = nil, err.Error()
	}
	patch, err := wire.PatchQuestion(wire.ReplyKey, said)
	if err != nil {
		return err
	}
	_, err = maps.Patch(ctx, wire.QuestionMap, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "oxgang"})
	return err
}

func answerTo(ctx context.Context, asked *wire.Request, answer answerer, try trier) ([]byte, error) {
	if asked.Try != nil {
		return answerTrial(ctx, asked, try)
	}
	var q whatif.Question
	if json.Unmarshal(asked.Question, &q) != nil {
		return nil, errors.New("the question is not valid")
	}
	a, err := answer(ctx, asked.Queue, q)
	if err != nil {
		return nil, err
	}
	a.Keep(wire.MostJobs)
	return json.Marshal(a)
}

func answerTrial(ctx context.Context, asked *wire.Request, try trier) ([]byte, error) {
	spec := new(job.Spec)
	if json.Unmarshal(asked.Try, spec) != nil || spec.GPUs < 1 || spec.GPUs > mostTrialGPUs {
		return nil, errors.New("the job is not valid")
	}
	a, err := try(ctx, asked.Queue, spec)
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

const mostTrialGPUs = 1 << 20
