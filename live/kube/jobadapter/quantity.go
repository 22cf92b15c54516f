package jobadapter

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var quantities = []string{"requests", "limits", "overhead", "sizeLimit", "divisor"}

var absurd = regexp.MustCompile(`[eE][+-]?[0-9]{4}|.{65}`)

// plain rejects absurd quantities: the Kubernetes library would write out all digits of 1e999999999, which takes a
// gigabyte and minutes.
func plain(part any) error {
	switch v := part.(type) {
	case []any:
		for _, one := range v {
			if err := plain(one); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			check := plain
			if slices.Contains(quantities, key) {
				check = plainQuantity
			}
			if err := check(v[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

func plainQuantity(v any) error {
	switch v := v.(type) {
	case string:
		if absurd.MatchString(v) {
			return fmt.Errorf("quantity %.40q, want an exponent of at most 3 digits, and at most 64 characters", v)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := plainQuantity(v[key]); err != nil {
				return err
			}
		}
	}
	return nil
}
