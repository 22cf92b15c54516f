package simulate

import (
	"errors"
	"slices"
	"strings"
)

func (t *task) why() string {
	return strings.TrimPrefix(t.failed.Error(), t.policy+": ")
}

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
			continue // as its first seed
		}
		names[why] = append(names[why], t.name)
	}
	var all []error
	for _, why := range order {
		all = append(all, errors.New(strings.Join(names[why], ", ")+": "+why))
	}
	return errors.Join(all...)
}
