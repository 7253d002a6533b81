// The same with the classes of openapi-generator's Java client. The JDK's HTTP client carries them: Debian has no
// release of OkHttp that the generated one compiles with.

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.JSON;
import org.openapitools.client.model.*;

public class JavaTrip {
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final String base;
    private final Map<String, String> trip;

    private JavaTrip(String url, Map<String, String> trip) {
        this.base = url + "/" + trip.get("network") + "/";
        this.trip = trip;
    }

    public static void main(String[] arguments) throws Exception {
        new JSON();
        List<Map<String, String>> trips =
                new Gson().fromJson(arguments[1], new TypeToken<List<Map<String, String>>>() {}.getType());
        List<Object> told = new ArrayList<>();
        for (Map<String, String> trip : trips) told.add(new JavaTrip(arguments[0], trip).travel());
        System.out.println(new Gson().toJson(told));
    }

    private static String send(HttpRequest.Builder request, int status) throws Exception {
        HttpResponse<String> response = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != status) throw new IllegalStateException(response.body());
        return response.body();
    }

    private String ask(String path, String tokenIn, int status) throws Exception {
        String query = "?amount=" + trip.get("amount") + "&tokenInAddress=" + tokenIn + "&tokenOutAddress="
                + URLEncoder.encode(trip.get("token_out_address"), StandardCharsets.UTF_8) + "&details=true";
        return send(HttpRequest.newBuilder(URI.create(base + path + query)), status);
    }

    private String build(String path, Object body) throws Exception {
        HttpRequest.BodyPublisher text = HttpRequest.BodyPublishers.ofString(JSON.serialize(body));
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path));
        return send(request.header("Content-Type", "application/json").POST(text), 200);
    }

    private static PostedRoute posted(Object route) throws Exception {
        return PostedRoute.fromJson(JSON.serialize(route));
    }

    private Map<String, Object> travel() throws Exception {
        boolean isEvm = !trip.get("network").equals("starknet");
        ExecuteRequestSlippage slippage = new ExecuteRequestSlippage(0.5);
        String to = trip.get("destination");

        RouteV1 route = Route200Response.fromJson(ask("route", trip.get("token_in_address"), 200)).getRouteV1();
        CalldataRequest order = new CalldataRequest(new OrderRequest().amount(trip.get("amount"))
                .tokenInAddress(trip.get("token_in_address")).tokenOutAddress(trip.get("token_out_address"))
                .slippage(slippage).destination(to));
        ExecuteRequest execution = new ExecuteRequest().route(posted(route)).slippage(slippage).destination(to);
        String own = build("calldata", order);
        String built = build("calldata", new CalldataRequest(execution));
        String executed = build("execute", execution);
        List<String> first = new ArrayList<>(List.of(route.getOutputAmount()));
        if (isEvm) {
            first.add(Calldata200Response.fromJson(own).getCalldataV1().getRoute().getOutputAmount());
            if (Calldata200Response.fromJson(built).getExecute().getCalldata().length() < 10) throw new Exception(built);
            boolean isCall = trip.get("network").equals("hyperevm");
            first.add((isCall ? JudgedCall.fromJson(executed).getRoute() : Execute.fromJson(executed).getRoute())
                    .getAmountOut());
        } else {
            first.add(CalldataStarknet200Response.fromJson(own).getStarknetCalldataV1().getRoute().getOutputAmount());
            if (CalldataStarknet200Response.fromJson(built).getListString().isEmpty()) throw new Exception(built);
            first.add(StarknetExecute.fromJson(executed).getRoute().getAmountOut());
        }

        Map<String, Object> told = new LinkedHashMap<>();
        told.put("first", first);
        told.put("state", route.getState().getKind());
        told.put("second", isEvm ? second(to) : List.of());
        String unknown = ask("route", trip.get("unknown_token"), 200);
        String same = ask("route", trip.get("token_out_address"), 400);
        told.put("no_route", Route200Response.fromJson(unknown).getRouteNotFound().getErrorMessage());
        told.put("fault", StatusFault.fromJson(same).getMessage().getString());
        return told;
    }

    private List<String> second(String to) throws Exception {
        String found = ask("v2/route", trip.get("token_in_address"), 200);
        RouteV2 route = RouteV2200Response.fromJson(found).getRouteV2();
        CalldataRequestV2 body = new CalldataRequestV2().route(posted(route))
                .slippage(new CalldataRequestV2Slippage(0.5)).destination(to);
        CalldataV2200Response built = CalldataV2200Response.fromJson(build("v2/calldata", body));
        return List.of(route.getOutputAmount(), built.getCalldataV2().getRoute().getAmountOut());
    }
}
