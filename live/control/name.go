package control

import (
	"fmt"
	"path/filepath"
	"strings"
)

// maxName is the most bytes of a name: that of a DNS label, so that names can be those
// of folders, hosts and pods.
const maxName = 63

// ValidName returns an error unless name is 1 to 63 small letters, digits and dashes, of
// which neither the first nor the last is a dash. What says whose name it is.
func ValidName(what, name string) error {
	ok := name != "" && len(name) <= maxName && strings.Trim(name, "-") == name
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !ok {
		return fmt.Errorf("%s %.70q, want 1 to %d of a-z, 0-9 and -, not beginning or ending with -", what, name, maxName)
	}
	return nil
}

// base returns a name without the number at its end: mnist of mnist-2 and of mnist2. It
// returns a name of digits alone as it is.
func base(name string) string {
	short := strings.TrimRight(strings.TrimRight(name, "0123456789"), "-")
	if short == "" {
		return name
	}
	return short
}

// nameOf returns a name for a command: train of "python -u train.py --lr 1" and of
// "./train.sh", and job where nothing better is to be found.
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

// interprets reports whether a program runs one that is its argument.
func interprets(program string) bool {
	switch strings.TrimRight(program, ".0123456789") {
	case "python", "torchrun", "bash", "sh", "env", "uv", "accelerate":
		return true
	}
	return false
}

// label makes a valid name of any text: characters that names may not have become dashes.
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
