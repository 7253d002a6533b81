// The same with the Go client of openapi-generator, which is in the folder service_client.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	client "service_client"
)

type trip struct {
	Network         string `json:"network"`
	Amount          string `json:"amount"`
	TokenInAddress  string `json:"token_in_address"`
	TokenOutAddress string `json:"token_out_address"`
	Destination     string `json:"destination"`
	UnknownToken    string `json:"unknown_token"`
}

type told struct {
	First   []string `json:"first"`
	State   string   `json:"state"`
	Second  []string `json:"second"`
	NoRoute string   `json:"no_route"`
	Fault   string   `json:"fault"`
}

var background = context.Background()

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func posted(route interface{}) client.PostedRoute {
	var found client.PostedRoute
	text, err := json.Marshal(route)
	check(err)
	check(json.Unmarshal(text, &found))
	return found
}

func ask(api *client.APIClient, t trip, tokenIn string) (*client.Route200Response, error) {
	first := api.FirstGenerationAPI
	var found *client.Route200Response
	var err error
	switch t.Network {
	case "starknet":
		found, _, err = first.RouteStarknet(background).Amount(t.Amount).TokenInAddress(tokenIn).
			TokenOutAddress(t.TokenOutAddress).Details(true).Execute()
	case "hyperevm":
		found, _, err = first.RouteHyperevm(background).Amount(t.Amount).TokenInAddress(tokenIn).
			TokenOutAddress(t.TokenOutAddress).Details(true).Execute()
	default:
		found, _, err = first.Route(background, t.Network).Amount(t.Amount).TokenInAddress(tokenIn).
			TokenOutAddress(t.TokenOutAddress).Details(true).Execute()
	}
	return found, err
}

// The outputs of the calldata of an order, and of the execution of a route.
func build(api *client.APIClient, t trip, order client.OrderRequest, route client.ExecuteRequest) (string, string) {
	first := api.FirstGenerationAPI
	ofOrder := client.CalldataRequest{OrderRequest: &order}
	ofRoute := client.CalldataRequest{ExecuteRequest: &route}
	if t.Network == "starknet" {
		// Without the felts of a route: Debian's validator has no lists, which that of 2021 has.
		own, _, err := first.CalldataStarknet(background).CalldataRequest(ofOrder).Execute()
		check(err)
		executed, _, err := first.ExecuteStarknet(background).ExecuteRequest(route).Execute()
		check(err)
		return own.StarknetCalldataV1.Route.OutputAmount, executed.Route.AmountOut
	}
	calldata := func(body client.CalldataRequest) *client.Calldata200Response {
		var found *client.Calldata200Response
		var err error
		switch t.Network {
		case "citrea":
			found, _, err = first.CalldataCitrea(background).CalldataRequest(body).Execute()
		case "hyperevm":
			found, _, err = first.CalldataHyperevm(background).CalldataRequest(body).Execute()
		default:
			found, _, err = first.Calldata(background, t.Network).CalldataRequest(body).Execute()
		}
		check(err)
		return found
	}
	quoted, built := calldata(ofOrder).CalldataV1.Route.OutputAmount, calldata(ofRoute).Execute
	if len(built.Calldata) < 10 {
		panic("no calldata")
	}
	if t.Network == "hyperevm" {
		executed, _, err := first.ExecuteHyperevm(background).ExecuteRequest(route).Execute()
		check(err)
		return quoted, executed.Route.AmountOut
	}
	executed, _, err := first.Execute(background, t.Network).ExecuteRequest(route).Execute()
	check(err)
	return quoted, executed.Route.AmountOut
}

func second(api *client.APIClient, t trip) []string {
	if t.Network == "starknet" {
		return []string{}
	}
	found, _, err := api.SecondGenerationAPI.RouteV2(background, t.Network).Amount(t.Amount).
		TokenInAddress(t.TokenInAddress).TokenOutAddress(t.TokenOutAddress).Execute()
	check(err)
	half := 0.5
	body := client.NewCalldataRequestV2(posted(found.RouteV2), client.CalldataRequestV2Slippage{Float64: &half}, t.Destination)
	payload, _, err := api.SecondGenerationAPI.CalldataV2(background, t.Network).CalldataRequestV2(*body).Execute()
	check(err)
	return []string{found.RouteV2.OutputAmount, payload.CalldataV2.Route.AmountOut}
}

func travel(api *client.APIClient, t trip) told {
	found, err := ask(api, t, t.TokenInAddress)
	check(err)
	half := 0.5
	slippage := client.ExecuteRequestSlippage{Float64: &half}
	order := client.NewOrderRequest(t.Amount, t.TokenInAddress, t.TokenOutAddress, slippage, t.Destination)
	route := client.NewExecuteRequest(posted(found.RouteV1), slippage, t.Destination)
	own, executed := build(api, t, *order, *route)
	refused, err := ask(api, t, t.UnknownToken)
	check(err)
	_, err = ask(api, t, t.TokenOutAddress)
	var response *client.GenericOpenAPIError
	if !errors.As(err, &response) {
		panic(err)
	}
	return told{
		First:   []string{found.RouteV1.OutputAmount, own, executed},
		State:   *found.RouteV1.State.Kind.Get(),
		Second:  second(api, t),
		NoRoute: refused.RouteNotFound.ErrorMessage,
		Fault:   *response.Model().(client.StatusFault).Message.String,
	}
}

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	api := client.NewAPIClient(configuration)
	var trips []trip
	check(json.Unmarshal([]byte(os.Args[2]), &trips))
	var all []told
	for _, each := range trips {
		all = append(all, travel(api, each))
	}
	text, err := json.Marshal(all)
	check(err)
	fmt.Println(string(text))
}
