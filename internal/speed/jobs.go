package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

type job struct {
	name    string
	program string
	args    []string
	says    string   // expected output
	times   int      // for the number of runs of short jobs
	first   []string // arguments of a run that makes the job's input; nil: none
}

func jobs(dir string) ([]job, error) {
	rows := filepath.Join(dir, "sacct.txt")
	if err := writeSacct(rows, 1_000_000); err != nil {
		return nil, err
	}
	list := []job{
		{"fifo, 50,000 jobs", "oxgang", []string{"simulate", "-q", "--report=", "--cluster", "t4:438x8", "--policy", "fifo", "--generate-kind", "fixed-duration"}, "50000  50000", 1, nil},
		{"sia round, 25,000 GPUs", "sia.test", []string{"-test.run", "^$", "-test.bench", "^BenchmarkPlan$/^policy=sia$/^gpus=25000$", "-test.benchtime", "20x"}, "gpus=25000", 1, nil},
		{"describe, 10^6 rows", "oxgang", []string{"trace", "describe", rows}, "1000000", 1, nil},
		{
			"explain, 10,000 waiting", "oxgang",
			[]string{"explain", "--journal", "waiting/easy.oxj", "--job", "bert-4998", "--at", "20m"},
			"bert-4998", 1,
			[]string{"simulate", "-q", "--report=", "--cluster", "hetero64", "--policy", "easy", "--generate-jobs", "10000", "--generate-span", "10m", "--horizon", "40m", "--out", "waiting"},
		},
		{"start", "oxgang", []string{"--help"}, "oxgang", 20, nil}, // the pin has no --version
	}
	data, err := filepath.Abs(filepath.Join("..", "shared", "data", "sia"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(data); err != nil {
		fmt.Println("speed: philly-1 and newtrace-1 are skipped:", err)
		return list, nil
	}
	return append([]job{siaJob("philly", data, 3), siaJob("newtrace", data, 1)}, list...), nil
}

func (j *job) prepare(builds []*build) error {
	for _, b := range builds {
		if j.first == nil {
			continue
		}
		if _, err := b.run(job{program: j.program, args: j.first}); err != nil {
			return err
		}
	}
	return nil
}

func siaJob(trace, data string, times int) job {
	return job{"sia, " + trace + "-1", "oxgang", []string{
		"simulate", "-q", "--report=", "--cluster", "hetero64", "--policy", "sia",
		"--profiles", filepath.Join(data, "profiles"), "--trace", filepath.Join(data, "traces", trace, "workload-1.csv"),
	}, "sia", times, nil}
}

func writeSacct(path string, rows int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "JobID|JobName|User|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|NNodes|ReqTRES|AllocTRES")
	const form = "2006-01-02T15:04:05"
	for i := range rows {
		submit := time.Unix(1_700_000_000+int64(i), 0).UTC()
		start := submit.Add(time.Duration(i*7919%3600) * time.Second)
		ran := 60 + i*104729%86400
		tres := fmt.Sprintf("billing=1,cpu=8,gres/gpu:a100=%[1]d,gres/gpu=%[1]d,mem=100G,node=1", 1<<(i%7))
		fmt.Fprintf(w, "%d|train-%d|user%d|part%d|normal|%s|%s|%s|%s|%d|1-00:00:00|COMPLETED|1|%s|%s\n", i+1, i, i*31%1000, i%20,
			submit.Format(form), submit.Format(form), start.Format(form), start.Add(time.Duration(ran)*time.Second).Format(form), ran, tres, tres)
	}
	return w.Flush()
}
