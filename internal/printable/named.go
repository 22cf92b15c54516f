package printable

import "strings"

// Named returns a name after its kind: "job bert". If the name itself begins with the kind, it returns only the name:
// "job-22".
func Named(kind, name string) string {
	if NamesKind(kind, name) {
		return name
	}
	return kind + " " + name
}

// NamesKind reports whether a name begins with its kind, such as "job-22", "Job_3" and "node7", but not "jobless".
func NamesKind(kind, name string) bool {
	if len(name) <= len(kind) || !strings.EqualFold(name[:len(kind)], kind) {
		return false
	}
	return !strings.ContainsAny(name[len(kind):len(kind)+1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
}
