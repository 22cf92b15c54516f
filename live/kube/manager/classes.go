package manager

import (
	"context"
	"fmt"
	"sync"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// classes are the PriorityClasses of the cluster, as the watch showed them last.
type classes struct {
	mu      sync.Mutex
	watched bool             // else all priorities are 0
	values  map[string]int32 // by name; the default one is also there by the empty name
}

// value returns the value of a class, of the default one (0 if there is none) if the name is empty, and whether there is one of
// that name.
func (c *classes) value(name string) (value int32, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, known = c.values[name]
	return value, known || !c.watched
}

// set takes all classes that there are. Of several default ones the one of the smallest value counts, as for pods.
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

// watchClasses begins to watch PriorityClasses. A scheduler that may not list them, by the roles of an earlier version, goes on
// without priorities.
func (l *leader) watchClasses(ctx context.Context) error {
	take := func() {
		var all schedulingv1.PriorityClassList
		if err := l.manager.GetClient().List(ctx, &all); err != nil {
			l.log.Warn("PriorityClasses cannot be listed, so those that were known hold", "err", err)
			return
		}
		l.classes.set(all.Items)
		l.notifyBackends()
	}
	err := l.subscribe(ctx, &schedulingv1.PriorityClass{}, take)
	if apierrors.IsForbidden(err) {
		l.log.Warn("all jobs have the priority 0, because the scheduler may not list PriorityClasses: bind the role of mode Observe of this version", "err", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("priorities: %w", err)
	}
	take()
	return nil
}
