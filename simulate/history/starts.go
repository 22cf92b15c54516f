package history

import (
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

var withoutStarts = map[string][2]string{
	trace.PhillyFormat: {
		"a table derived from Philly's log, without start times",
		"use the log itself, cluster_job_log in trace-data.tar.gz of github.com/msr-fiddle/philly-traces, which has start and end of each attempt",
	},
	trace.PAIFormat:    {"pai_task_table.csv without submissions", "put pai_job_table.csv, which has them, into the same file: cat pai_job_table.csv pai_task_table.csv > pai.csv"},
	trace.HeliosFormat: {"a table of Helios without start_time", "use cluster_log.csv of github.com/S-Lab-System-Group/HeliosData, which has that column"},
}

// WithoutStarts describes a history that lacks start times, and where to get a history that has them.
func (h *History) WithoutStarts() (what, where string) {
	if l, ok := withoutStarts[h.notes.Format]; ok {
		return l[0], l[1]
	}
	return "a trace of format " + h.notes.Format, "oxgang whatif reads the output of " + slurm.Export
}
