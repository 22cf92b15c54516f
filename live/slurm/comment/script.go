package comment

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// A Job is an elastic job that is to be submitted.
type Job struct {
	Request   Request
	Command   []string      // of each worker
	Name      string        // default: Slurm's, of the script
	Partition string        // default: Slurm's
	Account   string        // default: Slurm's
	Output    string        // a file pattern of sbatch; default: Slurm's
	Limit     time.Duration // of each start; 0: the partition's
	CPUs      int           // of each GPU; 0: Slurm's default
	Grace     time.Duration // from a notice until it is stopped
	Token     string        // with which its program speaks to the scheduler; empty: it does not
}

//go:embed script.sh
var text string

// Script returns the batch script. It returns an error for a command that is empty, or has a byte that a
// script cannot have.
func (j *Job) Script() ([]byte, error) {
	if len(j.Command) == 0 {
		return nil, errors.New("no command, want what to run")
	}
	words := make([]string, len(j.Command))
	for i, w := range j.Command {
		if strings.ContainsRune(w, 0) {
			return nil, fmt.Errorf("argument %q: a zero byte", w)
		}
		words[i] = Quote(w)
	}
	return []byte(strings.NewReplacer(
		"GRACE", strconv.Itoa(int(j.Grace.Seconds())), "key=KEY", "key="+Quote(j.key()), "token=TOKEN", "token="+Quote(j.Token), "COMMAND", strings.Join(words, " "),
	).Replace(text)), nil
}

// key returns what the name of the job's folder has beside its number: a part of its token's digest.
func (j *Job) key() string {
	if j.Token == "" {
		return ""
	}
	return Digest(j.Token)[:16]
}

// Quote returns a word as bash reads it back, whatever is in it.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// Options returns the options of sbatch, for a first start on the fewest GPUs that the job may have on nodes
// with perNode GPUs each. It returns an error if these are not as many on each of some nodes.
func (j *Job) Options(perNode int) ([]string, error) {
	least, request := j.Request.Min, j.Request
	if j.Token != "" {
		request.Token = Digest(j.Token)
	}
	nodes := max(1, (least+perNode-1)/max(1, perNode))
	if perNode < 1 || least%nodes != 0 {
		return nil, fmt.Errorf("%d GPUs on nodes of %d GPUs: want as many on each node", least, perNode)
	}
	all := []string{
		"--comment=" + request.String(), "--requeue", "--open-mode=append",
		"--nodes=" + strconv.Itoa(nodes), "--gres=gpu:" + strconv.Itoa(least/nodes),
	}
	for name, value := range map[string]string{"job-name": j.Name, "partition": j.Partition, "account": j.Account, "output": j.Output} {
		if value != "" {
			all = append(all, "--"+name+"="+value)
		}
	}
	if j.Limit > 0 {
		all = append(all, "--time="+strconv.Itoa(int((j.Limit+time.Minute-1)/time.Minute)))
	}
	if j.CPUs > 0 {
		all = append(all, "--cpus-per-gpu="+strconv.Itoa(j.CPUs))
	}
	return all, nil
}

// MostGPUs returns the GPUs of the largest node of a partition that has one of some types; any if there
// are none; 0 if there is no such node.
func MostGPUs(nodes []client.Node, partition string, types []string) int {
	most := 0
	for i := range nodes {
		n := &nodes[i]
		for t, gpus := range n.GPUs {
			if in(n.Partitions, partition) && in(types, t) {
				most = max(most, gpus)
			}
		}
	}
	return most
}

// in reports whether a word is one of some; it is if there are none, or the word is empty.
func in(words []string, word string) bool {
	return len(words) == 0 || word == "" || slices.Contains(words, word)
}
