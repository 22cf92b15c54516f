package trace

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// TestOpen_what_is_no_history: outputs of other commands are refused by name, with what to do.
func TestOpen_what_is_no_history(t *testing.T) {
	const sacct = "JobID|User|Submit|Start|End|ElapsedRaw|State|AllocTRES\n"
	for text, want := range map[string]string{
		"             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n":                "output of squeue or scontrol",
		"JobId=123 JobName=train\n   UserId=ann(1000)\n":                                                        "export the history with: sacct",
		`{"jobs": [{"job_id": 1, "submit_time": {"number": 1767225600}, "job_state": ["RUNNING"]}]}`:            "squeue and scontrol print it",
		`{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}`:                                  `one object of kind "Job", want lists`,
		"apiVersion: v1\nkind: List\nitems: []\n":                                                               "kubectl get -o json",
		"JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n":                     "a history of LSF",
		"Job <101>, User <ann>, Project <default>, Status <DONE>, Queue <gpu>\n":                                "a history of LSF",
		"\"JOB_FINISH\" \"10.1\" 1772327100 101 1001 33554438 1 1772323200\n":                                   "a history of LSF",
		"Job id            Name             User              Time Use S Queue\n":                               "a history of PBS",
		"03/01/2026 00:00:00;Q;101.pbs;queue=gpu\n":                                                             "a history of PBS",
		strings.Repeat("gpu.q:1:", 22) + "\n":                                                                   "a history of Grid Engine",
		`[{"type":"SUBMISSION","submission_id":"raysubmit_1","status":"SUCCEEDED","start_time":1772323500000}]`: "a history of Ray",
		"JobDetails(type=<JobType.SUBMISSION: 'SUBMISSION'>, job_id='01000000')\n":                              "--mapping",
		"PAR1\x15\x00": "a Parquet file",
		"NAMESPACE   NAME      STATUS     COMPLETIONS   DURATION   AGE\n":            "kubectl get jobs",
		"NAMESPACE   NAME               QUEUE   RESERVED IN   ADMITTED   FINISHED\n": "-A -o json",
		"\xff\xfeJ\x00o\x00b\x00": "text in UTF-16, want UTF-8",
		sacct + "1|ann|2026-01-02T00:00:00|2026-01-02T02:00:00|2026-01-02T01:00:00|3600|COMPLETED|gres/gpu=1\n": `end "2026-01-02T01:00:00", want a time that is not before the start`,
	} {
		seq, err := Open(strings.NewReader(text), "", parse.Options{})
		if err == nil {
			_, err = parse.Collect(seq)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// TestOpen_odd_rows reads rows that Slurm prints for oddities, and says what was done.
func TestOpen_odd_rows(t *testing.T) {
	const sacct = "JobID|User|Submit|Start|End|ElapsedRaw|State|AllocTRES\n"
	for _, tc := range []struct {
		rows, want, note string
		gpus             int
	}{
		{"1|ann|2026-01-02T00:00:00|2026-01-02T00:10:00|2026-01-02T00:40:00|1800|RESIZED|gres/gpu=8\n" +
			"1|ann|2026-01-02T00:00:00|2026-01-02T00:40:00|2026-01-02T01:10:00|1800|COMPLETED|gres/gpu=4\n", "waits        mean 10m,", "rows of jobs before a resize, simulated with their last GPUs: 1", 4},
		{"1|ann|2026-01-02T05:00:00|2026-01-02T00:10:00|2026-01-02T01:10:00|3600|COMPLETED|gres/gpu=4\n", "waits        mean 0s,", "rows of jobs that started before their submission, counted as not waiting: 1", 4},
		{sacct + "1|ann|2026-01-02T00:00:00|2026-01-02T00:10:00|2026-01-02T01:10:00|3600|COMPLETED|gres/gpu=4\n" + sacct, "waits        mean 10m,", "repeated headers left out: 2", 4},
	} {
		var waits Waits
		s := new(parse.Summary)
		seq, err := Open(strings.NewReader(sacct+tc.rows), "", parse.Options{Wait: waits.Add, Summary: s})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Describe(seq, &waits)
		if err != nil {
			t.Fatal(err)
		}
		d.Summary = s
		if text := d.String(); d.Jobs != 1 || d.GPUHours != float64(tc.gpus) || !strings.Contains(text, tc.want) || !strings.Contains(text, tc.note) {
			t.Errorf("want 1 job of an hour on %d GPUs, %s and %s in\n%s", tc.gpus, tc.want, tc.note, text)
		}
	}
}
