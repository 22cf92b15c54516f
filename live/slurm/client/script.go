package client

import (
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An ElasticJob is an elastic job to be submitted.
type ElasticJob struct {
	Request   Request
	Command   []string // command of each worker
	Name      string
	Partition string
	Account   string
	Output    string        // file pattern of sbatch
	Limit     time.Duration // time limit of each start; 0: the partition's
	CPUs      int           // per GPU; 0: Slurm's default
	Grace     time.Duration
	Token     string // empty: the program sends no messages
}

//go:embed script.sh
var text string

// Script returns the job's batch script. The command must not be empty or contain a zero byte.
func (j *ElasticJob) Script() ([]byte, error) {
	if len(j.Command) == 0 {
		return nil, errors.New("no command to run")
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

func (j *ElasticJob) key() string {
	if j.Token == "" {
		return ""
	}
	return Digest(j.Token)[:16]
}

// Quote quotes a word for bash.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// Options returns the sbatch options for the first start, on the job's minimum of GPUs. perNode is the number of GPUs
// of a node.
func (j *ElasticJob) Options(perNode int) ([]string, error) {
	least, request := j.Request.Min, j.Request
	if j.Token != "" {
		request.Token = Digest(j.Token)
	}
	nodes := max(1, (least+perNode-1)/max(1, perNode))
	if perNode < 1 || least%nodes != 0 {
		return nil, fmt.Errorf("min=%d cannot be spread evenly over nodes with %d GPUs", least, perNode)
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

// MostGPUs returns the largest number of GPUs on a node of the partition with one of the given GPU types (none: any),
// or 0 without such a node.
func MostGPUs(nodes []Node, partition string, types []string) int {
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

func in(words []string, word string) bool {
	return len(words) == 0 || word == "" || slices.Contains(words, word)
}

var coding = base64.RawURLEncoding.Strict()

// NewToken returns a secret token for the program of a user's job: 32 random bytes and the user's name, both in
// base64url, joined by ".".
//
// Only the job's script has the token. The job's public comment has its digest. A token is valid only for jobs of its
// user, so another user gains nothing by copying the digest.
func NewToken(user string) string {
	secret := make([]byte, sha256.Size)
	rand.Read(secret) // it never fails
	return coding.EncodeToString(secret) + "." + coding.EncodeToString([]byte(user))
}

// Digest returns the SHA-256 of a token in base64url.
func Digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return coding.EncodeToString(sum[:])
}

func checkDigest(text string) error {
	if sum, err := coding.DecodeString(text); err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("want %d characters of base64url, the SHA-256 of a token", coding.EncodedLen(sha256.Size))
	}
	return nil
}

// TokenUser returns the user whose name is in the token. ok is false if the text is not a token.
func TokenUser(token string) (user string, ok bool) {
	_, name, ok := strings.Cut(token, ".")
	raw, err := coding.DecodeString(name)
	return string(raw), ok && err == nil && len(raw) > 0
}
