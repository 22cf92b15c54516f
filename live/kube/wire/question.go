package wire

import "encoding/json"

const (
	// QuestionMap is the name of the ConfigMap.
	QuestionMap = "oxgang-question"
	// RequestKey is the key under which a Request is written.
	RequestKey = "request"
	// ReplyKey is that of the Reply.
	ReplyKey = "reply"
	// MostJobs is how many jobs an answer lists, those for which most changes: an object holds 1 MiB.
	MostJobs = 20
)

// A Request is one question.
type Request struct {
	ID       string          `json:"id"` // of this request, by which its reply is known
	Queue    string          `json:"queue"`
	Question json.RawMessage `json:"question"` // a whatif.Question
}

// A Reply answers the request of the same ID, or says why it does not.
type Reply struct {
	ID      string          `json:"id"`
	Answer  json.RawMessage `json:"answer,omitempty"` // a whatif.Answer
	Refused string          `json:"refused,omitempty"`
}

// PatchQuestion returns the merge patch that writes a request or a reply under a key.
func PatchQuestion(key string, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"data": map[string]string{key: string(text)}})
}

// ReadQuestion returns the request and the reply of the data of the ConfigMap; what is not there, or is none, is the zero value.
func ReadQuestion(data map[string]string) (asked Request, said Reply) {
	if json.Unmarshal([]byte(data[RequestKey]), &asked) != nil {
		asked = Request{}
	}
	if json.Unmarshal([]byte(data[ReplyKey]), &said) != nil {
		said = Reply{}
	}
	return asked, said
}
