package manager

import (
	"context"
	"fmt"
	"sync"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

type classes struct {
	mu      sync.Mutex
	watched bool             // otherwise all priorities are 0
	values  map[string]int32 // the default class also under the empty name
}

func (c *classes) value(name string) (value int32, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, known = c.values[name]
	return value, known || !c.watched
}

func (c *classes) set(all []schedulingv1.PriorityClass) {
	values := make(map[string]int32, len(all)+1)
	for i := range all {
		values[all[i].Name] = all[i].Value
		if least, is := values[""]; all[i].GlobalDefault && (!is || all[i].Value < least) {
			values[""] = all[i].Value
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values, c.watched = values, true
}

func (l *leader) watchClasses(ctx context.Context) error {
	take := func() {
		var all schedulingv1.PriorityClassList
		if err := l.manager.GetClient().List(ctx, &all); err != nil {
			l.log.Warn("cannot list PriorityClasses; the last known ones stay in use", "err", err)
			return
		}
		l.classes.set(all.Items)
		l.notifyBackends()
	}
	err := l.subscribe(ctx, &schedulingv1.PriorityClass{}, take)
	if apierrors.IsForbidden(err) {
		l.log.Warn("all jobs have priority 0: the scheduler may not list PriorityClasses; install this version's role of mode Observe", "err", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("priorities: %w", err)
	}
	take()
	return nil
}
