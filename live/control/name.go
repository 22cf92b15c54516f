package control

import (
	"fmt"
	"path/filepath"
	"strings"
)

const maxName = 63

// validName returns an error unless name is 1 to 63 lower-case letters, digits and inner dashes. The error begins with
// kind, such as "job".
func validName(kind, name string) error {
	ok := name != "" && len(name) <= maxName && strings.Trim(name, "-") == name
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !ok {
		return fmt.Errorf("%s %.70q, want 1 to %d of a-z, 0-9 and -, not beginning or ending with -", kind, name, maxName)
	}
	return nil
}

// base turns mnist-2 and mnist2 into mnist. A name of digits stays.
func base(name string) string {
	short := strings.TrimRight(strings.TrimRight(name, "0123456789"), "-")
	if short == "" {
		return name
	}
	return short
}

// nameOf returns train for "python -u train.py --lr 1" and "./train.sh", and job if there is nothing better.
func nameOf(command []string) string {
	if len(command) == 0 {
		return "job"
	}
	program := filepath.Base(command[0])
	if interprets(program) {
		for _, arg := range command[1:] {
			if !strings.HasPrefix(arg, "-") && filepath.Ext(arg) != "" {
				program = filepath.Base(arg)
				break
			}
		}
	}
	return label(strings.TrimSuffix(program, filepath.Ext(program)))
}

func interprets(program string) bool {
	switch strings.TrimRight(program, ".0123456789") {
	case "python", "torchrun", "bash", "sh", "env", "uv", "accelerate":
		return true
	}
	return false
}

func label(text string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(text))
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	if name == "" {
		return "job"
	}
	return name
}
