package simulate

import (
	"fmt"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

// lackings say what an input of a format has no start times for, where another input of it has them, and where that is.
var lackings = map[string][2]string{
	trace.PhillyFormat: {
		"a table derived from Philly's log, with submissions, running times, GPUs and virtual clusters alone",
		"the log itself, cluster_job_log, has start and end of each attempt: it is in trace-data.tar.gz of github.com/msr-fiddle/philly-traces",
	},
	trace.HeliosFormat: {"a table of Helios without start_time", "cluster_log.csv of github.com/S-Lab-System-Group/HeliosData has that column"},
}

// unobserved returns the error for an input that is no history.
func (h *history) unobserved(name string) error {
	what, hint := "a trace of format "+h.notes.Format, "oxgang whatif reads what this prints: "+slurm.Export
	if l, ok := lackings[h.notes.Format]; ok {
		what, hint = l[0], l[1]
	}
	return cli.Hinted(fmt.Errorf("%s does not say when its jobs started: it is %s", name, what), "%s; oxgang simulate --trace runs it without comparing", hint)
}
