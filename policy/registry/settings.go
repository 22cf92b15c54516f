package registry

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// A Setting is an option of a policy that can be given as text.
type Setting struct {
	Name    string
	Default string
	Doc     string // with the unit
}

// Settings bind the names of settings to the fields of an options struct, as package flag binds flags to variables.
type Settings struct {
	list []Setting
	set  []func(text string) error
}

// Var adds the setting name, which writes *dest: a number, string, bool or time.Duration. The present value of *dest is
// the default.
func (s *Settings) Var(name string, dest any, doc string) {
	option := reflect.ValueOf(dest).Elem()
	s.add(Setting{name, fmt.Sprint(option.Interface()), doc}, func(text string) error { return set(option, text) })
}

// Enum adds the setting name, which writes *dest. The text must be the String() of one of values.
func Enum[T fmt.Stringer](s *Settings, name string, dest *T, values []T, doc string) {
	s.add(Setting{name, (*dest).String(), doc}, func(text string) error {
		names := make([]string, len(values))
		for i, one := range values {
			if names[i] = one.String(); names[i] == text {
				*dest = one
				return nil
			}
		}
		last := len(names) - 1
		return errors.New(strings.Join(names[:last], ", ") + " or " + names[last])
	})
}

// Has reports whether a setting exists.
func (s *Settings) Has(name string) bool { return slices.Contains(namesOf(s.list), name) }

func (s *Settings) add(one Setting, set func(text string) error) {
	s.list = append(s.list, one)
	s.set = append(s.set, set)
}

func set(option reflect.Value, text string) error {
	var err error
	switch to := option.Addr().Interface().(type) {
	case *time.Duration:
		if *to, err = time.ParseDuration(text); err != nil {
			return errors.New("a duration such as 180s")
		}
		return nil
	case *bool:
		if *to, err = strconv.ParseBool(text); err != nil {
			return errors.New("true or false")
		}
		return nil
	case *float64:
		if *to, err = strconv.ParseFloat(text, 64); err != nil {
			return errors.New("a number")
		}
		return nil
	case *int:
		if *to, err = strconv.Atoi(text); err != nil {
			return errors.New("a whole number")
		}
		return nil
	case *uint64:
		if *to, err = strconv.ParseUint(text, 10, 64); err != nil {
			return errors.New("a whole number of at least 0")
		}
		return nil
	}
	option.SetString(text) // validated by the policy
	return nil
}

// Read sets the options from given, which maps names of settings to texts.
func (s *Settings) Read(given map[string]string) error {
	names := namesOf(s.list)
	var unknown, errs []error
	for name := range given {
		if !slices.Contains(names, name) {
			unknown = append(unknown, fmt.Errorf("setting %q is not known, want one of %s", name, strings.Join(names, ", ")))
		}
	}
	slices.SortFunc(unknown, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	for i, name := range names {
		if text, ok := given[name]; ok {
			if err := s.set[i](text); err != nil {
				errs = append(errs, fmt.Errorf("setting %s is %q, want %w", name, text, err))
			}
		}
	}
	return errors.Join(append(unknown, errs...)...)
}

// WithOptions returns entry e with its settings and New filled in. defaults returns the default options, bind adds a
// setting for each field, and build makes the policy from options that New has read from text.
func WithOptions[O any, P policy.Policy](e Entry, defaults func() O, bind func(*Settings, *O), build func(O) (P, error)) Entry {
	bound := func() (*O, *Settings) {
		o, s := defaults(), new(Settings)
		bind(s, &o)
		return &o, s
	}
	_, s := bound()
	e.Settings = s.list
	e.New = func(given map[string]string) (policy.Policy, error) {
		o, s := bound()
		if err := s.Read(given); err != nil {
			return nil, err
		}
		p, err := build(*o)
		if err != nil {
			return nil, err // not p: a nil pointer in an interface is not nil
		}
		return p, nil
	}
	return e
}
