package inventory

import (
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
)

// TypeName returns the GPU type for the value of a node label: its entry in names, or value in lower case; "" if that
// is no valid name.
func TypeName(value string, names map[string]string) cluster.GPUType {
	if name, ok := names[value]; ok {
		value = name
	}
	value = strings.ToLower(value)
	if !IsName(value) {
		return ""
	}
	return cluster.GPUType(value)
}

// IsName reports whether s can name a GPU type: a label value in lower case.
func IsName(s string) bool {
	if s == "" || len(s) > 63 || !alphanumeric(s[0]) || !alphanumeric(s[len(s)-1]) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return r > 'z' || !alphanumeric(byte(r)) && !strings.ContainsRune("-_.", r)
	}) < 0
}

func alphanumeric(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
