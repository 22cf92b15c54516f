package wire

import "encoding/json"

const (
	// QuestionMap is the ConfigMap for questions, in the scheduler's namespace. Users need the rights to get and patch
	// it.
	QuestionMap = "oxgang-question"
	// RequestKey is the key of the Request.
	RequestKey = "request"
	// ReplyKey is the key of the Reply.
	ReplyKey = "reply"
	// MostJobs limits an answer to the jobs with the largest changes, because an object holds at most 1 MiB.
	MostJobs = 20
)

// A Request is one question, with jobs named by uid.
type Request struct {
	ID       string          `json:"id"` // matches the Reply
	Queue    string          `json:"queue"`
	Question json.RawMessage `json:"question"` // a whatif.Question; null with Try
	// Try is a job.Spec: when would the job start? The answer is a whatif.TrialAnswer.
	Try json.RawMessage `json:"try,omitempty"`
}

// A Reply answers the Request with the same ID, or states why not.
type Reply struct {
	ID      string          `json:"id"`
	Answer  json.RawMessage `json:"answer,omitempty"` // a whatif.Answer or whatif.TrialAnswer
	Refused string          `json:"refused,omitempty"`
}

// PatchQuestion returns the merge patch that writes v, a Request or Reply, under a key of the ConfigMap.
func PatchQuestion(key string, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"data": map[string]string{key: string(text)}})
}

// ReadQuestion returns the Request and the Reply in the ConfigMap's data; zero if missing or invalid.
func ReadQuestion(data map[string]string) (asked Request, said Reply) {
	if json.Unmarshal([]byte(data[RequestKey]), &asked) != nil {
		asked = Request{}
	}
	if json.Unmarshal([]byte(data[ReplyKey]), &said) != nil {
		said = Reply{}
	}
	return asked, said
}
