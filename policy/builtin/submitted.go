package builtin

import (
	"cmp"
	"slices"
)

// resizing are the policies that may give a job whose GPU count may be adapted other GPUs than
// it asks for. All others run jobs on all the GPUs that they ask for, or not at all: a job that
// asks for more than there are of any type would wait for ever.
var resizing = []string{"sia", "pollux", "shockwave", "themis", "afs", "gandiva", "boa", "pollux-autoscale", "lyra"}

// RunsAsSubmitted reports whether a policy, with what is set of it, gives jobs all the GPUs
// that they ask for or none, also where their count may be adapted. Such jobs must fit a cluster
// as they are. A policy in parts does what the policy of the parts does; one that is not known
// runs nothing as submitted.
func RunsAsSubmitted(name string, settings map[string]string) bool {
	if name == "pop" {
		name = cmp.Or(settings["policy"], "sia")
	}
	_, err := Find(name)
	return err == nil && !slices.Contains(resizing, name)
}
