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
	says    string // expected output
	times   int    // for the number of runs of short jobs
}

func jobs(dir string) ([]job, error) {
	rows := filepath.Join(dir, "sacct.txt")
	if err := writeSacct(rows, 1_000_000); err != nil {
		return nil, err
	}
	list := []job{
		{"fifo, 50,000 jobs", "oxgang", []string{"simulate", "-q", "--report=", "--cluster", "t4:438x8", "--policy", "fifo", "--generate-kind", "fixed-duration"}, "50000  50000", 1},
		{"sia round, 25,000 GPUs", "sia.test", []string{"-test.run", "^$", "-test.bench", "^BenchmarkPlan$/^policy=sia$/^gpus=25000$", "-test.benchtime", "20x"}, "gpus=25000", 1},
		{"describe, 10^6 rows", "oxgang", []string{"trace", "describe", rows}, "1000000", 1},
		{"start", "oxgang", []string{"--help"}, "oxgang", 20}, // the pin has no --version
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

func siaJob(trace, data string, times int) job {
	return job{"sia, " + trace + "-1", "oxgang", []string{
		"simulate", "-q", "--report=", "--cluster", "hetero64", "--policy", "sia",
		"--profiles", filepath.Join(data, "profiles"), "--trace", filepath.Join(data, "traces", trace, "workload-1.csv"),
	}, "sia", times}
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
