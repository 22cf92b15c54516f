package trace_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

func ExampleOpen() {
	csv := "name,time,application,num_replicas,batch_size\n" +
		"bert-1,90.5,bert,4,48\n" +
		"cifar10-0,12,cifar10,8,2048\n"
	seq, err := trace.Open(strings.NewReader(csv), "", parse.Options{File: "w.csv"})
	if err != nil {
		fmt.Println(err)
		return
	}
	arrivals, err := parse.Sorted(seq)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range arrivals {
		fmt.Println(a.At, a.Spec.ID, a.Spec.GPUs)
	}
	// Output:
	// 12s cifar10-0 8
	// 1m30.5s bert-1 4
}

func ExampleFind() {
	csv := "submit_s,run_s,gpus\n10,3600,8\n20,60,x3\n30,60,0\n"
	summary := new(parse.Summary)
	seq, err := trace.Open(strings.NewReader(csv), "", parse.Options{File: "w.csv", OnBadRow: parse.Skip, Summary: summary})
	if err != nil {
		fmt.Println(err)
		return
	}
	jsonl, err := trace.Find("jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := jsonl.Write(os.Stdout, seq); err != nil {
		fmt.Println(err)
	}
	fmt.Print(summary)
	// Output:
	// {"id":"job-0","at_s":10,"duration_s":3600,"gpus":8,"adaptivity":["gpu_type"]}
	// format philly: 3 rows, 1 jobs
	//   jobs with 0 GPUs dropped: 1
	//   bad rows skipped: 1
	//     w.csv:3:3: gpus "x3", want a whole number of at least 0
}
