package simulate

import (
	"errors"
	"slices"
	"strings"
)

// why says why a task failed, without the name of its policy.
func (t *task) why() string {
	return strings.TrimPrefix(t.failed.Error(), t.policy+": ")
}

// failures returns an error that names the tasks that failed, and why, with one entry for all tasks
// that failed for the same reason; nil if none did.
func failures(tasks []*task) error {
	var order []string
	names := make(map[string][]string)
	for _, t := range tasks {
		if t.failed == nil {
			continue
		}
		why := t.why()
		if !slices.Contains(order, why) {
			order = append(order, why)
		}
		if t.aside && slices.Contains(names[why], t.policy) {
			continue // its first seed failed so, too
		}
		names[why] = append(names[why], t.name)
	}
	var all []error
	for _, why := range order {
		all = append(all, errors.New(strings.Join(names[why], ", ")+": "+why))
	}
	return errors.Join(all...)
}
